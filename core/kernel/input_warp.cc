#include "core/kernel/input_warp.h"

#include <cmath>

namespace fidelio {
namespace {

constexpr double kSeries = 1e-2;  // below this |c|, the series is exact to about 1e-9 in w

}  // namespace

Warped WarpInput(double x, double c) {
  if (std::abs(c) < kSeries) {
    const double p = (x - 1) / 2, q = (x - 1) * (2 * x - 1) / 12;
    return {.value = x * (1 + c * p + c * c * q),
            .slope = 1 + c * (2 * x - 1) / 2 + c * c * (6 * x * x - 6 * x + 1) / 12,
            .sensitivity = x * (p + 2 * c * q)};
  }
  const double denominator = std::expm1(c);
  const double value = std::expm1(c * x) / denominator;
  const double growth = std::exp(c * x) / denominator;
  return {.value = value, .slope = c * growth, .sensitivity = x * growth - value * (1 + 1 / denominator)};
}

void WarpInputs(double c, Eigen::Ref<Vector> x) {
  if (std::abs(c) < kSeries) {
    for (double& value : x) value = WarpInput(value, c).value;
    return;
  }
  const double denominator = std::expm1(c);
  for (double& value : x) value = std::expm1(c * value) / denominator;
}

}  // namespace fidelio
