// OpsServer: the HTTP port of operators.
//
//   GET /metrics   200, metrics for Prometheus
//   GET /healthz   200 while the process answers at all
//   GET /readyz    200 when calls are welcome; 503 and the reason while starting, draining or failed
//
// CivetWeb serves it with a fixed number of threads; a client that dawdles is cut off after two seconds, and connections
// beyond the threads and a short queue wait in the kernel's backlog. Thread-safe.
#ifndef FIDELIO_SERVER_TELEMETRY_OPS_SERVER_H_
#define FIDELIO_SERVER_TELEMETRY_OPS_SERVER_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/config/address.h"
#include "server/telemetry/metrics.h"
#include "server/telemetry/readiness.h"

struct mg_connection;
struct mg_context;

namespace fidelio {

class OpsServer {
 public:
  // Both objects must outlive the server. INVALID_ARGUMENT, naming the setting, when the address can't be bound.
  static absl::StatusOr<std::unique_ptr<OpsServer>> Start(const Address& address, const Metrics* metrics,
                                                          const Readiness* readiness);
  // Waits for the requests that are being answered.
  ~OpsServer();

  int port() const { return port_; }

 private:
  OpsServer(const Address& address, const Metrics* metrics, const Readiness* readiness);

  static int OnRequest(mg_connection* connection);
  static int OnLogMessage(const mg_connection* connection, const char* message);
  int Answer(mg_connection* connection) const;

  const Address address_;
  const Metrics* const metrics_;
  const Readiness* const readiness_;
  mg_context* context_ = nullptr;
  int port_ = 0;
  // What CivetWeb said first: why it did not start, if it did not. Later messages are about single connections, which
  // concern nobody but their clients.
  absl::Mutex mutex_;
  std::string first_message_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_TELEMETRY_OPS_SERVER_H_
