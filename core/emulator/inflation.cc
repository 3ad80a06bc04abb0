#include "core/emulator/inflation.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace fidelio {

Inflation InflationOf(const LeaveOneOut& left_out) {
  if (left_out.y.size() == 0) return {};
  int distinct = 0;  // groups are numbered from 0
  for (const int group : left_out.group) distinct = std::max(distinct, group + 1);
  const double n = left_out.group.empty() ? static_cast<double>(left_out.y.size()) : distinct;
  return {.factor = std::max(1.0, (kInflationPrior + n * MeanSquaredResidual(left_out)) / (kInflationPrior + n))};
}

Inflation UnshrunkInflation(double mean_squared_residual) {
  return {.factor = std::max(1.0, mean_squared_residual), .of_given_noise = true};
}

void Inflate(double factor, Mixture& mixture) {
  if (factor <= 1) return;
  const Eigen::RowVectorXd mean = MixtureMean(mixture).transpose();
  mixture.mean = ((mixture.mean.rowwise() - mean) * std::sqrt(factor)).rowwise() + mean;
  mixture.variance *= factor;
}

void InflateAdjoints(double factor, const Vector& weights, Matrix& mean_bar, Matrix& variance_bar) {
  if (factor <= 1) return;
  const Eigen::RowVectorXd total = mean_bar.colwise().sum();
  mean_bar = std::sqrt(factor) * mean_bar + (1 - std::sqrt(factor)) * weights * total;
  variance_bar *= factor;
}

absl::Status CheckInflation(const Inflation& inflation) {
  if (std::isfinite(inflation.factor) && inflation.factor >= 1) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat("checkpoint holds an inflation of %g, want at least 1", inflation.factor));
}

}  // namespace fidelio
