#include "core/emulator/posterior.h"

#include <cmath>

#include "core/base/status_macros.h"

namespace fidelio {

absl::StatusOr<Matrix> Posterior::JointColumns(const Matrix& x, const std::vector<int>& levels,
                                               const std::vector<int>& columns, const JointOptions& options) const {
  FIDELIO_ASSIGN_OR_RETURN(const JointGaussian joint, Joint(x, levels, options));
  return Matrix(0.5 * (joint.covariance(Eigen::all, columns) + joint.covariance(columns, Eigen::all).transpose()));
}

void AddNoise(double variance, uint64_t seed, Matrix& samples) {
  const double sd = std::sqrt(variance);
  for (Eigen::Index i = 0; i < samples.rows(); ++i) {
    Random random(seed, StreamOf(RandomUse::kPathNoise), static_cast<uint32_t>(i));
    for (double& f : samples.row(i)) f += sd * random.Normal();
  }
}

std::vector<Random> FunctionRandoms(const PathOptions& options, RandomUse use) {
  std::vector<Random> random;
  for (int i = 0; i < options.count; ++i) {
    random.emplace_back(options.seed, StreamOf(use), static_cast<uint32_t>(options.first + i));
  }
  return random;
}

}  // namespace fidelio
