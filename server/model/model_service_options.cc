#include "server/model/model_service_options.h"

#include <utility>

namespace fidelio {

ModelServiceOptions OptionsFromConfig(const ServerConfig& config, std::string code_version) {
  ModelServiceOptions options;
  options.fit_workers = static_cast<int>(config.fit_workers);
  options.fit_threads = static_cast<int>(FitThreads(config));
  options.fit_queue = config.fit_queue;
  options.checkpoint_interval = absl::Seconds(config.checkpoint_seconds);
  options.cache_bytes = config.model_cache_mib << 20;
  options.max_models = config.max_models;
  options.max_observations = config.max_observations;
  options.max_batch = config.max_batch;
  options.max_input_dimension = config.max_input_dimension;
  options.max_fidelities = config.max_fidelities;
  options.keep_revisions = config.keep_revisions;
  options.code_version = std::move(code_version);
  options.spool_directory = config.data_dir;
  return options;
}

}  // namespace fidelio
