#include "server/config/server_config.h"

#include <algorithm>
#include <thread>

namespace fidelio {

int64_t FitThreads(const ServerConfig& config) {
  if (config.fit_threads > 0) return config.fit_threads;
  return std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, 16);
}

int64_t CallThreads(const ServerConfig& config) {
  return config.max_threads - kReservedThreads - config.fit_workers * FitThreads(config);
}

bool ReflectionEnabled(const ServerConfig& config) {
  if (config.reflection == Reflection::kAuto) return config.tokens_file.empty();
  return config.reflection == Reflection::kOn;
}

}  // namespace fidelio
