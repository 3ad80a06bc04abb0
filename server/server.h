// Server: all parts of a running fidelio-server, put together in the order in which they need each other.
//
//   Start: TLS and tokens → metrics port → store → models (fits go on) → gRPC port → port file, ready
//   Stop:  not ready, calls refused → calls under way end → fits are checkpointed → ports close
//
// Thread-safe.
#ifndef FIDELIO_SERVER_SERVER_H_
#define FIDELIO_SERVER_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/config/server_config.h"
#include "server/model/model_service_options.h"
#include "server/rpc/emulator_service.h"
#include "server/telemetry/logger.h"

namespace fidelio {

class Server {
 public:
  struct Options {
    ServerConfig config = {};
    ServerIdentity identity = {};
    // Called at most once, from any thread, when the disk no longer does what it says: the process should exit. Writes
    // are refused from then on.
    std::function<void(const absl::Status&)> on_fatal = [](const absl::Status&) {};
    ModelServiceHooks hooks = {};  // of tests
  };

  // `logger` outlives the server. Errors name the setting that is to blame, where there is one.
  static absl::StatusOr<std::unique_ptr<Server>> Start(Options options, Logger* logger);
  // Stops without waiting for anything but threads.
  ~Server();

  int port() const;
  int metrics_port() const;  // 0: none
  int64_t calls_under_way() const;

  // Reads tokens and TLS files again, soon.
  void Reload();

  // Stops within about `grace`. False when calls or fits were still at work then: their threads live, so that the process
  // should exit without the destructor, which would wait for them. Nothing that was acknowledged is lost either way.
  bool Stop(absl::Duration grace);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_SERVER_H_
