#include "core/design/quality.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace fidelio {

Vector QualityOfMean(const Vector& mean) {
  const Eigen::Index n = mean.size();
  if (n == 0) return Vector(0);
  // Of deviations divided by the largest, so that squares neither overflow nor vanish.
  Vector z = mean.array() - mean.mean();
  const double largest = z.cwiseAbs().maxCoeff(), rounding = 1e-12 * mean.cwiseAbs().maxCoeff();
  if (largest > rounding) {
    z /= largest;
    z /= std::sqrt(z.squaredNorm() / static_cast<double>(n));
  } else {
    z.setZero();
  }
  return z.unaryExpr([](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); });
}

absl::Status CheckQuality(const Vector& quality, Eigen::Index candidates) {
  if (quality.size() != candidates) {
    return absl::InvalidArgumentError(
        absl::StrCat("quality: ", quality.size(), " elements, but there are ", candidates, " candidates"));
  }
  for (Eigen::Index i = 0; i < quality.size(); ++i) {
    if (!(std::isfinite(quality[i]) && quality[i] > 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("quality[", i, "]: ", quality[i], ", must be positive and finite"));
    }
  }
  return absl::OkStatus();
}

}  // namespace fidelio
