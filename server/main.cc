// fidelio-server: hosts models behind gRPC. `fidelio-server --help` lists what it can do and be told.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "grpc/support/log.h"
#include "server/auth/digest.h"
#include "server/config/command_line.h"
#include "server/isa_level.h"
#include "server/maintenance.h"
#include "server/probe.h"
#include "server/rpc/grpc_limits.h"
#include "server/server.h"
#include "server/signals.h"
#include "server/telemetry/logger.h"

namespace fidelio {
namespace {

constexpr int kUsageError = 2;

int Fail(const absl::Status& status, int code) {
  std::cerr << "fidelio-server: " << status.message() << "\n";
  return code;
}

// What gRPC has to say goes where everything goes, and in its form.
Logger* grpc_logger = nullptr;

void LogOfGrpc(gpr_log_func_args* arguments) {
  const bool error = arguments->severity == GPR_LOG_SEVERITY_ERROR;
  grpc_logger->Log(error ? LogLevel::kWarning : LogLevel::kDebug, "gRPC", {{"text", arguments->message}});
}

// Why the server stops: the first reason stays.
class StopRequest {
 public:
  struct Reason {
    std::string text;
    bool fatal = false;
  };

  void Ask(Reason reason) {
    absl::MutexLock lock(&mutex_);
    if (!reason_.has_value()) reason_ = std::move(reason);
  }

  Reason Await() {
    const auto asked = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return reason_.has_value(); };
    absl::MutexLock lock(&mutex_, absl::Condition(&asked));
    return *reason_;
  }

 private:
  absl::Mutex mutex_;
  std::optional<Reason> reason_ ABSL_GUARDED_BY(mutex_);
};

int Serve(const CommandLine& command) {
  const ServerConfig& config = command.config;
#ifdef NDEBUG
  // Abseil as distributions build it looks for cycles of locks at every lock of this process, gRPC's included, which
  // takes a tenth of the time of small calls. Builds for debugging keep it.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
  SignalThread signals;  // before all other threads
  // Never destroyed: threads of gRPC may log until the very end.
  Logger* const logger = Logger::ToStderr(config.log_format, config.log_level).release();
  grpc_logger = logger;
  gpr_set_log_function(LogOfGrpc);
  logger->Log(LogLevel::kInfo, "fidelio-server starts",
              {{"version", FIDELIO_VERSION}, {"pid", getpid()}, {"data_dir", config.data_dir}});
  for (const std::string& warning : command.warnings) logger->Log(LogLevel::kWarning, warning);
  if (const absl::StatusOr<int64_t> files = LimitOpenFiles(config.max_open_files); !files.ok()) {
    logger->Log(LogLevel::kWarning, std::string(files.status().message()));
  } else if (*files < config.max_open_files) {
    logger->Log(LogLevel::kWarning, "the system allows fewer open files than max_open_files",
                {{"max_open_files", config.max_open_files}, {"allowed", *files}});
  }

  StopRequest stop;
  Server::Options options;
  options.config = config;
  options.identity = {.version = FIDELIO_VERSION,
                      .build = FIDELIO_BUILD,
                      .isa_level = LoadedIsaLevel(FIDELIO_BASE_LEVEL),
                      .start_time = absl::Now()};
  options.on_fatal = [&](const absl::Status& status) {
    logger->Log(LogLevel::kError, "the store failed; the server exits, and a new one will recover from the disk",
                {{"error", status.ToString()}});
    stop.Ask({"the store failed", true});
  };
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(std::move(options), logger);
  if (!server.ok()) {
    logger->Log(LogLevel::kError, "can't start", {{"error", std::string(server.status().message())}});
    return server.status().code() == absl::StatusCode::kInvalidArgument ? kUsageError : 1;
  }

  signals.Start({.on_stop =
                     [&](const std::string& signal) {
                       stop.Ask({signal, false});
                     },
                 .on_reload = [&] { (*server)->Reload(); },
                 .on_second_stop =
                     [&](const std::string& signal) {
                       logger->Log(LogLevel::kWarning, "exits at once", {{"signal", signal}});
                     }});
  const StopRequest::Reason reason = stop.Await();
  logger->Log(LogLevel::kInfo, "stopping: no new calls",
              {{"reason", reason.text}, {"grace_seconds", config.grace_seconds}});
  // A store that failed takes no checkpoints: only what reads may end.
  const double grace = reason.fatal ? std::min(config.grace_seconds, 1.0) : config.grace_seconds;
  const bool clean = (*server)->Stop(absl::Seconds(grace));
  // Threads that are still at work must not keep the process: everything acknowledged is on disk.
  if (!clean) _exit(reason.fatal ? 1 : 0);
  server->reset();
  return reason.fatal ? 1 : 0;
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandLine> command = ParseCommandLine(arguments, FidelioEnvironment(), FIDELIO_VERSION);
  if (!command.ok()) return Fail(command.status(), kUsageError);
  absl::Status status;
  switch (command->action) {
    case Action::kServe:
      return Serve(*command);
    case Action::kPrint:
      for (const std::string& warning : command->warnings) std::cerr << "fidelio-server: " << warning << "\n";
      if (!(std::cout << command->text << std::flush))
        status = absl::InternalError("standard output: can't be written");
      break;
    case Action::kCheck:
      status = CheckDataDirectory(command->config.data_dir, std::cout);
      break;
    case Action::kBackup:
      status = BackUpDataDirectory(command->config.data_dir, command->backup_file, std::cout);
      break;
    case Action::kProbe:
      status = Probe(command->config, absl::Seconds(5), std::cout);
      break;
    case Action::kHashToken:
      status = HashToken(std::cin, std::cout);
      break;
  }
  return status.ok() ? 0 : Fail(status, 1);
}

}  // namespace
}  // namespace fidelio

int main(int argc, char** argv) { return fidelio::Main(std::vector<std::string>(argv + 1, argv + argc)); }
