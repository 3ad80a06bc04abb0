#include "client/cli/score.h"

#include <cmath>

namespace fidelio::cli {

Scores ComputeScores(const client::Prediction& prediction, const Eigen::VectorXd& y) {
  const double n = static_cast<double>(y.size());
  const double error = (prediction.mean - y).squaredNorm();
  const double deviation = (y.array() - y.mean()).square().sum();
  const auto inside =
      prediction.quantiles.col(0).array() <= y.array() && y.array() <= prediction.quantiles.col(1).array();
  return {.rmse = std::sqrt(error / n),
          .r2 = deviation > 0 ? 1 - error / deviation : 0,
          .coverage = static_cast<double>(inside.count()) / n};
}

}  // namespace fidelio::cli
