// GrpcServer: the gRPC server of a Fidelio process: its port, its limits, health, reflection, and its end.
//
// Health answers for "" (the whole server) and for each service; all of them are NOT_SERVING from the moment that
// draining begins. Health and reflection need no token.
//
// Limits, all of them of the whole server unless said otherwise: threads that calls use and memory of what arrives
// (gRPC's resource quota and the WorkerPool), size of messages and of metadata, calls per connection, idle connections, handshakes that
// take too long, pings. Compressed messages are refused (UNIMPLEMENTED), because gRPC unpacks them without a limit.
//
// Thread-safe.
#ifndef FIDELIO_SERVER_RPC_GRPC_SERVER_H_
#define FIDELIO_SERVER_RPC_GRPC_SERVER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "server/config/server_config.h"
#include "server/rpc/call_gate.h"
#include "server/rpc/call_loop.h"
#include "server/rpc/connection_guard.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/health_service.h"
#include "server/rpc/worker_pool.h"

namespace fidelio {

class GrpcServer {
 public:
  // Listens at config.listen and answers calls from now on. All that is pointed to outlives the server.
  // INVALID_ARGUMENT, naming the setting, when the address can't be bound.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const ServerConfig& config,
                                                           const std::shared_ptr<grpc::ServerCredentials>& credentials,
                                                           EmulatorService* service, CallGate* gate,
                                                           ConnectionGuard* guard);
  // Cancels all calls that are left.
  ~GrpcServer();

  int port() const { return port_; }

  // Refuses new calls from now on (UNAVAILABLE, and NOT_SERVING); those under way go on.
  void BeginDraining();

  // After BeginDraining: waits for calls that work, but not for clients, until `deadline`; then cancels what is left and
  // closes the port. Whether all calls but those that waited for their clients came to their end.
  bool Drain(absl::Time deadline);

 private:
  GrpcServer(const ServerConfig& config, CallGate* gate);

  CallGate* const gate_;
  const absl::Duration retry_delay_;
  HealthService health_;
  std::unique_ptr<CallLoop> loop_;
  std::unique_ptr<grpc::Server> server_;  // before loop_ in destruction: the loop's queue is the server's
  int port_ = 0;
  WorkerPool workers_;  // last: its threads tell the loop of the end of calls
};

// How the threads and the memory of a config are shared out.
CallGate::Limits GateLimitsOf(const ServerConfig& config);
int64_t CallMemoryBytes(const ServerConfig& config);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_GRPC_SERVER_H_
