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
  has_medians_ = has_medians_ && prediction.median.size() == y.size();
  if (has_medians_) median_squared_error_ += (y - prediction.median).squaredNorm();
  covered_ +=
      (y.array() >= prediction.quantiles.col(0).array() && y.array() <= prediction.quantiles.col(1).array()).count();
}

Scores Scorer::scores() const {
  if (count_ == 0) return {};
  const auto n = static_cast<double>(count_);
  Scores scores{.points = count_,
                .rmse = std::sqrt(squared_error_ / n),
                .r2 = deviation_ > 0 ? 1 - squared_error_ / deviation_ : 0,
                .coverage = static_cast<double>(covered_) / n};
  if (has_medians_) {
    scores.median_rmse = std::sqrt(median_squared_error_ / n);
    scores.median_r2 = deviation_ > 0 ? 1 - median_squared_error_ / deviation_ : 0;
  }
  return scores;
}

}  // namespace fidelio::cli
