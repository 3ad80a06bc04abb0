#include "core/optim/laplace.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "Eigen/Eigenvalues"
#include "absl/strings/str_format.h"
#include "core/base/normal.h"

namespace fidelio {
namespace {

constexpr double kLeastCurvature = 1;  // of the posterior, in prior units

}  // namespace

absl::StatusOr<Curvature> MeasureCurvature(const ConstMatrixRef& hessian) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(0.5 * (hessian + hessian.transpose()));
  if (eigen.info() != Eigen::Success || !eigen.eigenvalues().allFinite()) {
    return absl::InternalError(
        absl::StrFormat("Hessian (%d×%d) of the log posterior has no eigenvalues", hessian.rows(), hessian.cols()));
  }
  return Curvature{.values = eigen.eigenvalues().cwiseMax(kLeastCurvature), .vectors = eigen.eigenvectors()};
}

double LaplaceEvidence(double log_peak, const Vector& curvature) {
  return log_peak + 0.5 * static_cast<double>(curvature.size()) * kLogTwoPi - 0.5 * curvature.array().log().sum();
}

HmcSpace WhitenedSpace(const Vector& mode, const Curvature& curvature) {
  return {.origin = mode, .basis = curvature.vectors * curvature.values.cwiseSqrt().cwiseInverse().asDiagonal()};
}

Vector WeightsByEvidence(const Vector& log_evidence, double temperature, int most, double least, double first) {
  const double best = log_evidence.maxCoeff();
  Vector weights = log_evidence.unaryExpr([&](double z) { return std::exp((z - best) / temperature); });
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  Vector sorted = weights;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double admitted = std::max(sorted[std::min<Eigen::Index>(sorted.size(), most) - 1], least * total);
  for (Eigen::Index m = 0; m < weights.size(); ++m) {
    if (weights[m] < admitted) weights[m] = m == 0 ? first * total : 0;
  }
  return weights / std::accumulate(weights.begin(), weights.end(), 0.0);
}

}  // namespace fidelio
