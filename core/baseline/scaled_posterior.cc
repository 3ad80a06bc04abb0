#include "core/baseline/scaled_posterior.h"

#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/linalg/covariance_factor.h"

namespace fidelio {

absl::Status SampleGaussian(ScaledPosterior::JointGaussian joint, const std::vector<int>& rows, uint64_t seed,
                            uint32_t stream, Matrix& paths) {
  if (rows.empty()) return absl::OkStatus();
  FIDELIO_RETURN_IF_ERROR(FactoriseCovariance(joint.covariance, "covariance of sampled inputs"));
  Matrix normals(joint.covariance.cols(), static_cast<Eigen::Index>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    Random random(seed, stream, static_cast<uint32_t>(rows[i]));
    for (double& z : normals.col(static_cast<Eigen::Index>(i))) z = random.Normal();
  }
  paths(rows, Eigen::all) = ((joint.covariance * normals).colwise() + joint.mean).transpose();
  return absl::OkStatus();
}

size_t DrawOf(const Vector& weights, double quantile) {
  Eigen::Index k = 0;
  while (k + 1 < weights.size() && (quantile -= weights[k]) >= 0) ++k;
  return static_cast<size_t>(k);
}

std::vector<std::vector<int>> SamplesOfDraws(const Vector& weights, int count, uint64_t seed, uint32_t stream) {
  std::vector<std::vector<int>> samples(weights.size());
  for (int i = 0; i < count; ++i) {
    samples[DrawOf(weights, Random(seed, stream, static_cast<uint32_t>(i)).Uniform())].push_back(i);
  }
  return samples;
}

}  // namespace fidelio
