#include "tests/support/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fidelio {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The value at x + shift·e_i; NaN where it can't be evaluated.
double ValueAt(Objective& objective, Vector x, int i, double shift) {
  x[i] += shift;
  double value;
  return objective.Evaluate(x, &value, nullptr) ? value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

GradientCheck CheckGradient(Objective& objective, const Vector& x, double step) {
  const int n = static_cast<int>(x.size());
  double value;
  Vector gradient;
  if (!objective.Evaluate(x, &value, &gradient)) return {.max_relative_error = kInfinity, .worst = -1};
  Vector differences(n);
  for (int i = 0; i < n; ++i) {
    const double near = ValueAt(objective, x, i, step) - ValueAt(objective, x, i, -step);
    const double far = ValueAt(objective, x, i, 2 * step) - ValueAt(objective, x, i, -2 * step);
    differences[i] = (8 * near - far) / (12 * step);
    if (!std::isfinite(differences[i]) || !std::isfinite(gradient[i])) {
      return {.max_relative_error = kInfinity, .worst = i};
    }
  }
  GradientCheck check;
  const double floor = n == 0 ? 0 : 1e-3 * differences.cwiseAbs().maxCoeff();
  for (int i = 0; i < n; ++i) {
    const double error = std::abs(gradient[i] - differences[i]);
    const double scale = std::max({std::abs(gradient[i]), std::abs(differences[i]), floor});
    const double relative = error == 0 ? 0 : error / scale;
    if (check.worst < 0 || relative > check.max_relative_error) check = {.max_relative_error = relative, .worst = i};
  }
  return check;
}

}  // namespace fidelio
