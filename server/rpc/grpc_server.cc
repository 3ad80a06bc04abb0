#include "server/rpc/grpc_server.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "fidelio/v1/emulator.grpc.pb.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/server_builder.h"
#include "server/config/address.h"
#include "server/rpc/grpc_executor.h"
#include "server/rpc/grpc_limits.h"
#include "server/rpc/silent_connections.h"

namespace fidelio {
namespace {

constexpr int64_t kMaxWatches = 10'000;
// Unary calls that wait for a thread.
constexpr int64_t kMaxQueue = 1'000;
// Threads that read from connections, out of kReservedThreads.
constexpr int kMaxReaders = 16;
// How long a client may be silent before gRPC hears of it.
constexpr absl::Duration kSilence = absl::Seconds(10);
// What clients get to end their connections in, once nothing works any more.
constexpr absl::Duration kClosing = absl::Milliseconds(100);

// Reflection for this server, or not. Its library switches it on for every server of a program that links to it.
class ReflectionOption : public grpc::ServerBuilderOption {
 public:
  explicit ReflectionOption(bool enabled) : enabled_(enabled) {}
  void UpdateArguments(grpc::ChannelArguments* /*arguments*/) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    auto reflection = std::make_unique<grpc::reflection::ProtoServerReflectionPlugin>();
    std::erase_if(*plugins, [&](const auto& plugin) { return plugin->name() == reflection->name(); });
    if (enabled_) plugins->push_back(std::move(reflection));
  }

 private:
  const bool enabled_;
};

}  // namespace

GrpcServer::GrpcServer(const ServerConfig& config, CallGate* gate)
    : gate_(gate),
      retry_delay_(absl::Seconds(std::max(1.0, config.grace_seconds))),
      health_({v1::Emulator::service_full_name()}),
      workers_({.max_threads = WorkerThreads(config), .max_queue = kMaxQueue}) {}

CallGate::Limits GateLimitsOf(const ServerConfig& config) {
  return {.max_streams = MaxStreams(config), .max_watches = kMaxWatches};
}

int64_t CallMemoryBytes(const ServerConfig& config) { return config.max_memory_mib << 19; }

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(
    const ServerConfig& config, const std::shared_ptr<grpc::ServerCredentials>& credentials, EmulatorService* service,
    CallGate* gate, ConnectionGuard* guard) {
  std::unique_ptr<GrpcServer> server(new GrpcServer(config, gate));
  grpc::EnableDefaultHealthCheckService(false);  // it would poll a completion queue of its own
  grpc::ServerBuilder builder;
  ApplyLimits(config, builder);
  builder.SetOption(std::make_unique<ReflectionOption>(ReflectionEnabled(config)));
  const std::string address = FormatAddress(config.listen);
  builder.AddListeningPort(address, credentials, &server->port_);
  builder.RegisterService(service);
  builder.RegisterService(server->health_.service());
  server->loop_ = std::make_unique<CallLoop>(builder.AddCompletionQueue());
  StopGrpcExecutor();  // where it can't be stopped, floods delay health checks: no reason not to serve
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || server->port_ == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("listen = ", address, ": can't be bound; is another program listening there?"));
  }
  DeferSilentConnections(server->port_, kSilence);
  const CallParts parts{.loop = server->loop_.get(), .workers = &server->workers_, .guard = guard};
  service->Listen(parts);
  server->health_.SetServing(true);
  server->health_.Listen(parts);
  server->loop_->Start(kMaxReaders);
  return server;
}

GrpcServer::~GrpcServer() {
  if (server_ != nullptr) Drain(absl::InfinitePast());
}

void GrpcServer::BeginDraining() {
  gate_->Close(retry_delay_);
  health_.SetServing(false);
}

bool GrpcServer::Drain(absl::Time deadline) {
  const bool drained = gate_->AwaitDrained(deadline);
  server_->Shutdown(absl::ToChronoTime(absl::Now() + (drained ? kClosing : absl::ZeroDuration())));
  loop_->Stop();
  return drained;
}

}  // namespace fidelio
