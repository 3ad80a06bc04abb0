#include "core/dgp/leave_one_out_weights.h"

#include <cmath>

#include "core/base/normal.h"

namespace fidelio {

Vector WeightsWithout(double y, const Vector& weight, const Vector& mean, const Vector& variance) {
  const Eigen::ArrayXd minus_log =
      0.5 * ((y - mean.array()).square() / variance.array() + variance.array().log() + kLogTwoPi);
  Eigen::ArrayXd ratio = (minus_log - minus_log.maxCoeff()).exp();
  const double most = (weight.array() * ratio).sum() * std::sqrt(static_cast<double>(weight.size()));
  ratio = ratio.min(most) * weight.array();
  return ratio / ratio.sum();
}

}  // namespace fidelio
