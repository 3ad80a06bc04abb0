// ServiceLimits: what requests must stay within. Plain data; safe to share between threads.
#ifndef FIDELIO_SERVER_RPC_LIMITS_H_
#define FIDELIO_SERVER_RPC_LIMITS_H_

#include <cstdint>

#include "server/config/server_config.h"

namespace fidelio {

struct ServiceLimits {
  int64_t max_message_bytes = 0;
  int64_t max_matrix_elements = 0;
  int64_t max_inputs = 0;             // points of one Predict or SamplePaths, or of a chunk of PredictStream
  int64_t max_covariance_points = 0;  // points whose covariances are needed: their cost grows with the cube
  int64_t max_paths = 0;
  int64_t max_design_points = 0;  // points of one SampleDPP or Suggest whose covariances are needed
  int64_t max_design_size = 0;    // inputs or runs of one answer
  int32_t max_page = 0;
  // As in ServerConfig, for GetServerInfo.
  int64_t max_input_dimension = 0;
  int64_t max_fidelities = 0;
  int64_t max_observations = 0;
  int64_t fit_queue = 0;
  int64_t fit_workers = 0;
};

ServiceLimits ServiceLimitsOf(const ServerConfig& config);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_LIMITS_H_
