#include "server/rpc/grpc_limits.h"

#include <grpc/compression.h>
#include <grpc/grpc.h>
#include <grpcpp/resource_quota.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace fidelio {

namespace {

constexpr int kHandshakeMilliseconds = 10'000;
// Connections whose other end has vanished are found by pings.
constexpr int kKeepaliveMilliseconds = 60'000;
constexpr int kKeepaliveTimeoutMilliseconds = 20'000;
// Clients may ping as often, and so often more, before they are cut off.
constexpr int kLeastPingMilliseconds = 10'000;
constexpr int kPingStrikes = 3;
// Threads of gRPC that wait for streams to begin; beyond the larger number they end when they have nothing to do.
constexpr int kMinPollers = 1;
constexpr int kMaxPollers = 4;
// Those say no to streams beyond the limit, or take the place of one that does: gRPC refuses calls without a word of ours
// when nobody would be left to wait for the next one.
constexpr int64_t kMoreStreamThreads = 3;

int Clamped(double value) { return static_cast<int>(std::min(value, 2e9)); }

}  // namespace

void ApplyLimits(const ServerConfig& config, grpc::ServerBuilder& builder) {
  grpc::ResourceQuota quota("fidelio");
  quota.SetMaxThreads(static_cast<int>(MaxStreams(config) + kMoreStreamThreads));
  quota.Resize(static_cast<size_t>(config.max_memory_mib) << 19);  // half of it: see CallMemoryBytes
  builder.SetResourceQuota(quota);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, kMinPollers);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, kMaxPollers);

  const int message_bytes = Clamped(static_cast<double>(config.max_message_mib) * (1 << 20));
  builder.SetMaxReceiveMessageSize(message_bytes);
  builder.SetMaxSendMessageSize(message_bytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, Clamped(static_cast<double>(config.max_metadata_kib) * 1024));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(config.max_concurrent_streams));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, Clamped(config.idle_connection_seconds * 1000));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kLeastPingMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, kPingStrikes);
  // A second server on the same port is an error, not a lottery.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
}

int64_t MaxStreams(const ServerConfig& config) { return std::max<int64_t>(1, CallThreads(config) / 2); }

int64_t WorkerThreads(const ServerConfig& config) {
  return std::max<int64_t>(1, CallThreads(config) - MaxStreams(config) - kMoreStreamThreads);
}

absl::StatusOr<int64_t> LimitOpenFiles(int64_t wanted) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = std::min<rlim_t>(static_cast<rlim_t>(wanted), limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return static_cast<int64_t>(limit.rlim_cur);
  }
  return absl::InternalError(absl::StrCat("max_open_files = ", wanted, ": setrlimit: ", std::strerror(errno)));
}

}  // namespace fidelio
