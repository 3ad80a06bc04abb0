#include "server/rpc/limits.h"

#include <algorithm>
#include <cmath>

namespace fidelio {
namespace {

constexpr int64_t kMaxCovariancePoints = 2'000;
constexpr int64_t kMaxDesignPoints = 2'500;
constexpr int64_t kMaxDesignSize = 1'000;
constexpr int64_t kMaxPage = 1'000;  // what the contract promises at most

}  // namespace

ServiceLimits ServiceLimitsOf(const ServerConfig& config) {
  ServiceLimits limits;
  limits.max_message_bytes = config.max_message_mib << 20;
  limits.max_matrix_elements = limits.max_message_bytes / static_cast<int64_t>(sizeof(double));
  limits.max_inputs = config.max_inputs;
  // The covariances must fit into an answer, with some room for the rest of it.
  const double elements = 0.9 * static_cast<double>(limits.max_matrix_elements);
  limits.max_covariance_points = std::min(kMaxCovariancePoints, static_cast<int64_t>(std::sqrt(elements)));
  limits.max_paths = config.max_samples;
  limits.max_design_points = kMaxDesignPoints;
  limits.max_design_size = kMaxDesignSize;
  limits.max_page = static_cast<int32_t>(std::min(config.max_page, kMaxPage));
  limits.max_input_dimension = config.max_input_dimension;
  limits.max_fidelities = config.max_fidelities;
  limits.max_observations = config.max_observations;
  limits.fit_queue = config.fit_queue;
  limits.fit_workers = config.fit_workers;
  return limits;
}

}  // namespace fidelio
