// Settings of a ModelService.
#ifndef FIDELIO_SERVER_MODEL_MODEL_SERVICE_OPTIONS_H_
#define FIDELIO_SERVER_MODEL_MODEL_SERVICE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "core/emulator/fit_observer.h"
#include "server/config/server_config.h"
#include "server/model/model_types.h"
#include "server/telemetry/metrics.h"

namespace fidelio {

// Where tests look inside and interfere. All are called without locks of the service held.
struct ModelServiceHooks {
  // From the fitting thread, at every iteration, after progress was published and the checkpoint (if due) committed.
  std::function<void(const std::string& model, int64_t fit, const FitProgress& progress)> on_iteration = {};
  // After the state of a running fit was committed.
  std::function<void(const std::string& model, int64_t fit)> on_checkpoint = {};
  // When a fit has succeeded, before its report is kept; may change it.
  std::function<void(FitReport& report)> on_report = {};
  // Before a checkpoint is read for the cache.
  std::function<void(const std::string& model, int64_t revision)> on_load = {};
};

struct ModelServiceOptions {
  int fit_workers = 1;
  int fit_threads = 1;                                    // of one fit; 0: one per core
  int64_t fit_queue = 256;                                // fits that wait, of all models
  absl::Duration checkpoint_interval = absl::Seconds(5);  // of work of a running fit; 0: every iteration
  int64_t cache_bytes = int64_t{512} << 20;

  int64_t max_models = 100'000;
  int64_t max_observations = 1'000'000;  // of one model
  int64_t max_batch = 100'000;           // observations of one AddObservations
  int64_t max_input_dimension = 256;
  int64_t max_fidelities = 16;

  int64_t max_fit_bytes = 0;                     // of memory, that a fit may need by estimate; 0: half of the machine's
  int64_t max_import_bytes = int64_t{16} << 30;  // of a file

  // Answers to requests are remembered for this long, and at most this many.
  absl::Duration request_memory = absl::Hours(24 * 7);
  int64_t max_requests = 100'000;

  int64_t keep_revisions = 0;  // of a model that does not say it itself; 0: all

  // The quotas of the token with this name, as they are now; none for a token that there is not. Null: nobody has any.
  std::function<CallerQuotas(const std::string& token)> quotas_of = {};

  std::string code_version = "0.1.0";  // recorded in revisions
  std::string spool_directory = {};    // for files on their way in; empty: the system's directory for temporary files
  Metrics* metrics = nullptr;          // may be null; outlives the service
  ModelServiceHooks hooks = {};
};

ModelServiceOptions OptionsFromConfig(const ServerConfig& config, std::string code_version);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_MODEL_SERVICE_OPTIONS_H_
