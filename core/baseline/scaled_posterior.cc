#include "core/baseline/scaled_posterior.h"

#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/linalg/covariance_factor.h"

namespace fidelio {
namespace {

constexpr uint32_t kPathStream = 2;

}  // namespace

absl::StatusOr<Matrix> SampleGaussian(ScaledPosterior::JointGaussian joint, int count, uint64_t seed) {
  FIDELIO_RETURN_IF_ERROR(FactoriseCovariance(joint.covariance, "covariance of sampled inputs"));
  Matrix normals(joint.covariance.cols(), count);
  for (int i = 0; i < count; ++i) {
    Random random(seed, kPathStream, static_cast<uint32_t>(i));
    for (double& z : normals.col(i)) z = random.Normal();
  }
  return ((joint.covariance * normals).colwise() + joint.mean).transpose();
}

}  // namespace fidelio
