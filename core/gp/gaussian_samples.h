// Samples of mixtures of joint Gaussians: each sample follows one of them.
#ifndef FIDELIO_CORE_GP_GAUSSIAN_SAMPLES_H_
#define FIDELIO_CORE_GP_GAUSSIAN_SAMPLES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "core/base/types.h"

namespace fidelio {

// Samples of N(mean, covariance), n values each, as some rows of `samples`; standard normals of row i are those of stream
// (seed, stream, i).
absl::Status SampleGaussian(const Vector& mean, Matrix covariance, const std::vector<int>& rows, uint64_t seed,
                            uint32_t stream, Matrix& samples);

// Which of the Gaussians with these weights each of `count` samples follows, as lists of samples, one per Gaussian. Sample i depends
// on the seed, the stream and i alone.
std::vector<std::vector<int>> SamplesOfDraws(const Vector& weights, int count, uint64_t seed, uint32_t stream);

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_GAUSSIAN_SAMPLES_H_
