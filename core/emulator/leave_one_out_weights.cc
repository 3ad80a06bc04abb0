#include "core/emulator/leave_one_out_weights.h"

#include <cmath>

#include "core/base/normal.h"

namespace fidelio {

Vector WeightsWithout(const Vector& weight, const Vector& log_density) {
  Eigen::ArrayXd ratio = (log_density.minCoeff() - log_density.array()).exp();
  const double most = (weight.array() * ratio).sum() * std::sqrt(static_cast<double>(weight.size()));
  ratio = ratio.min(most) * weight.array();
  return ratio / ratio.sum();
}

Vector WeightsWithout(double y, const Vector& weight, const Vector& mean, const Vector& variance) {
  const Eigen::ArrayXd minus_log =
      0.5 * ((y - mean.array()).square() / variance.array() + variance.array().log() + kLogTwoPi);
  return WeightsWithout(weight, -minus_log.matrix());
}

}  // namespace fidelio
