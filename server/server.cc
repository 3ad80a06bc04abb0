#include "server/server.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "server/auth/authenticator.h"
#include "server/auth/periodic.h"
#include "server/auth/plain_credentials.h"
#include "server/auth/tls.h"
#include "server/config/address.h"
#include "server/config/port_file.h"
#include "server/control_socket.h"
#include "server/model/model_service.h"
#include "server/rpc/call_gate.h"
#include "server/rpc/connection_guard.h"
#include "server/rpc/convert.h"
#include "server/rpc/grpc_server.h"
#include "server/rpc/memory_budget.h"
#include "server/rpc/methods.h"
#include "server/rpc/task_thread.h"
#include "server/store/sqlite_store.h"
#include "server/telemetry/metrics.h"
#include "server/telemetry/ops_server.h"
#include "server/telemetry/readiness.h"

namespace fidelio {
namespace {

// Shares of the grace period: for unary calls to end before mutations are refused, and for everything.
constexpr double kCallShare = 0.5, kFitShare = 0.9;

int64_t CountModels(const ModelService& models) {
  int64_t count = 0;
  std::string after;
  do {
    const absl::StatusOr<ModelList> page = models.ListModels("", after, 1000);
    if (!page.ok()) return -1;
    count += static_cast<int64_t>(page->models.size());
    after = page->next;
  } while (!after.empty());
  return count;
}

}  // namespace

// In the order of construction: each uses only those above it, and is destroyed before them.
struct Server::Parts {
  Parts(const ServerConfig& server_config, const std::string& version, Logger* server_logger)
      : config(server_config),
        logger(server_logger),
        metrics(MethodNames(), version),
        gate(GateLimitsOf(server_config)),
        guard({.calls_at_once = server_config.max_concurrent_streams},
              [this](const std::string& peer) {
                metrics.RecordCutConnection();
                logger->Log(LogLevel::kWarning, "connection closed: it resets too many calls", {{"peer", peer}});
              }),
        memory(CallMemoryBytes(server_config)) {}

  const ServerConfig config;
  Logger* const logger;
  Readiness readiness;
  Metrics metrics;
  std::unique_ptr<Authenticator> authenticator;
  std::unique_ptr<TlsIdentity> tls;
  std::unique_ptr<OpsServer> ops;
  std::unique_ptr<Store> store;
  std::unique_ptr<ModelService> models;
  CallGate gate;
  ConnectionGuard guard;
  MemoryBudget memory;
  TaskThread watchers;
  std::unique_ptr<EmulatorService> service;
  std::unique_ptr<GrpcServer> grpc;
  std::vector<std::unique_ptr<Periodic>> reloads;
  std::unique_ptr<ControlSocket> control;
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() = default;

absl::StatusOr<std::unique_ptr<Server>> Server::Start(Options options, Logger* logger) {
  const ServerConfig& config = options.config;
  auto parts = std::make_unique<Parts>(config, options.identity.version, logger);
  Parts* const p = parts.get();

  if (config.tokens_file.empty()) {
    p->authenticator = Authenticator::Open();
  } else {
    FIDELIO_ASSIGN_OR_RETURN(p->authenticator, Authenticator::FromFile(config.tokens_file, logger, &p->metrics));
  }
  if (!config.tls_cert.empty()) {
    FIDELIO_ASSIGN_OR_RETURN(p->tls, TlsIdentity::Load(TlsFilesOf(config), logger));
  }
  if (config.metrics_address.has_value()) {
    FIDELIO_ASSIGN_OR_RETURN(p->ops, OpsServer::Start(*config.metrics_address, &p->metrics, &p->readiness));
  }

  SqliteStoreOptions store_options;
  store_options.directory = config.data_dir;
  store_options.on_fatal = [p, on_fatal = options.on_fatal](const absl::Status& status) {
    p->readiness.SetFailed(status.ToString());
    on_fatal(status);
  };
  store_options.on_repair = [logger](const std::string& what) {
    logger->Log(LogLevel::kWarning, "repaired", {{"what", what}});
  };
  FIDELIO_ASSIGN_OR_RETURN(p->store, OpenSqliteStore(std::move(store_options)));

  ModelServiceOptions model_options = OptionsFromConfig(config, options.identity.version);
  model_options.metrics = &p->metrics;
  model_options.quotas_of = [p](const std::string& owner) -> CallerQuotas {
    const std::optional<Quotas> quotas = p->authenticator->QuotasOf(owner);
    return quotas.has_value() ? ToCallerQuotas(*quotas) : CallerQuotas();
  };
  model_options.hooks = std::move(options.hooks);
  FIDELIO_ASSIGN_OR_RETURN(p->models, ModelService::Open(p->store.get(), std::move(model_options)));

  EmulatorService::Parts service_parts;
  service_parts.models = p->models.get();
  service_parts.environment = {p->authenticator.get(), logger, &p->metrics, &p->gate, &p->guard};
  service_parts.memory = &p->memory;
  service_parts.watchers = &p->watchers;
  service_parts.limits = ServiceLimitsOf(config);
  service_parts.identity = std::move(options.identity);
  p->service = std::make_unique<EmulatorService>(std::move(service_parts));
  const grpc_auth_metadata_processor guarded = p->guard.Processor();
  FIDELIO_ASSIGN_OR_RETURN(
      p->grpc, GrpcServer::Start(config, p->tls ? p->tls->NewCredentials(guarded) : NewPlainCredentials(guarded),
                                 p->service.get(), &p->gate, &p->guard));

  if (p->authenticator->required()) {
    p->reloads.push_back(std::make_unique<Periodic>(absl::Seconds(config.tokens_reload_seconds), [p](bool forced) {
      p->authenticator->Reload(forced).IgnoreError();  // logged
    }));
  }
  if (p->tls != nullptr) {
    p->reloads.push_back(std::make_unique<Periodic>(absl::Seconds(config.tls_reload_seconds), [p](bool forced) {
      p->tls->Reload(forced).IgnoreError();  // logged
    }));
  }
  FIDELIO_ASSIGN_OR_RETURN(p->control, ControlSocket::Open(config.data_dir, [p](const std::string& path) {
                             p->logger->Log(LogLevel::kInfo, "backup", {{"file", path}});
                             return p->store->Backup(path);
                           }));
  p->readiness.SetReady();
  logger->Log(LogLevel::kInfo, "listening",
              {{"address", FormatAddress({config.listen.host, p->grpc->port()})},
               {"tls", p->tls == nullptr ? "off" : (config.tls_client_ca.empty() ? "on" : "mutual")},
               {"tokens", p->authenticator->required()},
               {"reflection", ReflectionEnabled(config)},
               {"data_dir", config.data_dir},
               {"models", CountModels(*p->models)}});
  if (p->ops != nullptr) {
    logger->Log(LogLevel::kInfo, "metrics and health checks over HTTP",
                {{"address", FormatAddress({config.metrics_address->host, p->ops->port()})}});
  }
  if (!IsLoopback(config.listen) && (p->tls == nullptr || !p->authenticator->required())) {
    logger->Log(LogLevel::kWarning, "insecure: whoever reaches this address can read or change all models",
                {{"tls", p->tls != nullptr}, {"tokens", p->authenticator->required()}});
  }
  if (!config.port_file.empty()) FIDELIO_RETURN_IF_ERROR(WritePortFile(config.port_file, p->grpc->port()));
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

int Server::port() const { return parts_->grpc->port(); }

int Server::metrics_port() const { return parts_->ops == nullptr ? 0 : parts_->ops->port(); }

int64_t Server::calls_under_way() const { return parts_->gate.calls(); }

void Server::Reload() {
  for (const auto& reload : parts_->reloads) reload->Trigger();
}

bool Server::Stop(absl::Duration grace) {
  const absl::Time start = absl::Now();
  parts_->readiness.SetDraining();
  parts_->grpc->BeginDraining();
  parts_->gate.AwaitUnary(start + kCallShare * grace);
  const absl::Status fits = parts_->models->Drain(start + kFitShare * grace);
  const bool calls = parts_->grpc->Drain(start + kFitShare * grace);
  parts_->logger->Log(fits.ok() && calls ? LogLevel::kInfo : LogLevel::kWarning, "stopped",
                      {{"seconds", absl::ToDoubleSeconds(absl::Now() - start)},
                       {"fits", fits.ok() ? std::string("checkpointed") : fits.ToString()},
                       {"calls", calls ? "ended" : "cut off"}});
  return fits.ok() && calls;
}

}  // namespace fidelio
