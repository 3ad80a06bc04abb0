#include "core/gp/gaussian_samples.h"

#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/linalg/covariance_factor.h"

namespace fidelio {

absl::Status SampleGaussian(const Vector& mean, Matrix covariance, const std::vector<int>& rows, uint64_t seed,
                            uint32_t stream, Matrix& samples) {
  if (rows.empty()) return absl::OkStatus();
  FIDELIO_RETURN_IF_ERROR(FactoriseCovariance(covariance, "covariance of sampled inputs"));
  Matrix normals(covariance.cols(), static_cast<Eigen::Index>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    Random random(seed, stream, static_cast<uint32_t>(rows[i]));
    for (double& z : normals.col(static_cast<Eigen::Index>(i))) z = random.Normal();
  }
  samples(rows, Eigen::all) = ((covariance * normals).colwise() + mean).transpose();
  return absl::OkStatus();
}

std::vector<std::vector<int>> SamplesOfDraws(const Vector& weights, int count, uint64_t seed, uint32_t stream) {
  std::vector<std::vector<int>> samples(weights.size());
  for (int i = 0; i < count; ++i) {
    double quantile = Random(seed, stream, static_cast<uint32_t>(i)).Uniform();
    size_t k = 0;
    while (k + 1 < samples.size() && (quantile -= weights[static_cast<Eigen::Index>(k)]) >= 0) ++k;
    samples[k].push_back(i);
  }
  return samples;
}

}  // namespace fidelio
