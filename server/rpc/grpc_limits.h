// What clients can make the server use, bounded before anything is allocated for them.
#ifndef FIDELIO_SERVER_RPC_GRPC_LIMITS_H_
#define FIDELIO_SERVER_RPC_GRPC_LIMITS_H_

#include <grpcpp/server_builder.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/config/server_config.h"

namespace fidelio {

// Bounds threads, memory, messages, metadata, streams and the time of idle connections and handshakes. Compressed
// messages are refused (UNIMPLEMENTED): gRPC 1.51 inflates them before it looks at their size.
void ApplyLimits(const ServerConfig& config, grpc::ServerBuilder& builder);

// How the threads for calls are shared out: streams that hold a thread each, and threads for all other calls.
int64_t MaxStreams(const ServerConfig& config);
int64_t WorkerThreads(const ServerConfig& config);

// Sets this process' limit of open files to `wanted`, or to the hard limit if that is lower; answers what it is now.
absl::StatusOr<int64_t> LimitOpenFiles(int64_t wanted);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_GRPC_LIMITS_H_
