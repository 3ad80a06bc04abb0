#include "client/cli/score.h"

#include <cmath>

namespace fidelio::cli {

void Scorer::Add(const client::Prediction& prediction, const Eigen::VectorXd& y) {
  // Means and squared deviations of two samples together (Chan et al. 1983).
  const auto n = static_cast<double>(y.size()), before = static_cast<double>(count_);
  const double mean = y.mean(), step = mean - mean_;
  deviation_ += (y.array() - mean).square().sum() + step * step * before * n / (before + n);
  mean_ += step * n / (before + n);
  count_ += y.size();
  squared_error_ += (y - prediction.mean).squaredNorm();
  covered_ +=
      (y.array() >= prediction.quantiles.col(0).array() && y.array() <= prediction.quantiles.col(1).array()).count();
}

Scores Scorer::scores() const {
  if (count_ == 0) return {};
  const auto n = static_cast<double>(count_);
  return {.points = count_,
          .rmse = std::sqrt(squared_error_ / n),
          .r2 = deviation_ > 0 ? 1 - squared_error_ / deviation_ : 0,
          .coverage = static_cast<double>(covered_) / n};
}

}  // namespace fidelio::cli
