// ServerConfig: everything that can be set about a server, with its defaults.
//
// Plain data. The table in settings.cc gives every member its name, help and rule; command_line.h fills the struct from
// flags, the environment and a file; rules.h holds the rules between members.
#ifndef FIDELIO_SERVER_CONFIG_SERVER_CONFIG_H_
#define FIDELIO_SERVER_CONFIG_SERVER_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>

#include "server/config/address.h"

namespace fidelio {

enum class Reflection { kAuto, kOn, kOff };
enum class LogFormat { kText, kJson };
enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct ServerConfig {
  // Where.
  Address listen{"127.0.0.1", 50051};
  std::string port_file = {};  // empty: none
  std::string data_dir = "./fidelio-data";
  double grace_seconds = 10;

  // Fits.
  int64_t fit_workers = 1;
  int64_t fit_threads = 0;  // 0: see FitThreads
  int64_t fit_queue = 256;
  double checkpoint_seconds = 5;
  int64_t model_cache_mib = 512;

  // Limits of the whole server.
  int64_t max_threads = 256;
  int64_t max_memory_mib = 1024;
  int64_t max_open_files = 4096;
  int64_t max_message_mib = 64;
  int64_t max_metadata_kib = 16;
  int64_t max_concurrent_streams = 128;
  double idle_connection_seconds = 600;

  // Limits of models and calls.
  int64_t max_models = 100'000;
  int64_t max_observations = 1'000'000;
  int64_t max_batch = 100'000;
  int64_t max_inputs = 1'000'000;
  int64_t max_samples = 10'000;
  int64_t max_input_dimension = 256;
  int64_t max_fidelities = 16;
  int64_t max_page = 1'000;
  int64_t keep_revisions = 0;  // 0: all

  // Security. Empty: none.
  std::string tls_cert = {};
  std::string tls_key = {};
  std::string tls_client_ca = {};
  double tls_reload_seconds = 60;
  std::string tokens_file = {};
  double tokens_reload_seconds = 5;
  bool insecure = false;
  Reflection reflection = Reflection::kAuto;

  // Observability.
  std::optional<Address> metrics_address = Address{"127.0.0.1", 9464};
  bool metrics_public = false;
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;

  friend bool operator==(const ServerConfig&, const ServerConfig&) = default;
};

// Threads that the process needs besides those of fits and calls: signals, metrics, reloads, gRPC's own, and those that
// read from connections.
inline constexpr int64_t kReservedThreads = 40;

// Threads of one fit: fit_threads, or one per core (at most 16) when that is 0.
int64_t FitThreads(const ServerConfig& config);

// Threads that gRPC may use for calls, so that the whole process stays below max_threads.
int64_t CallThreads(const ServerConfig& config);

// Whether the reflection service is on: AUTO means unless tokens are required.
bool ReflectionEnabled(const ServerConfig& config);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_CONFIG_SERVER_CONFIG_H_
