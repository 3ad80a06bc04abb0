// CoKrigingPosterior: AR1 and DEEP-MF, given their data: one Gaussian at every set of inputs and levels. Predictions at
// every level use the data of all levels.
#ifndef FIDELIO_CORE_BASELINE_CO_KRIGING_POSTERIOR_H_
#define FIDELIO_CORE_BASELINE_CO_KRIGING_POSTERIOR_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/baseline/co_kriging.h"
#include "core/baseline/scaled_posterior.h"
#include "core/gp/gp_posterior.h"

namespace fidelio {

class CoKrigingPosterior : public ScaledPosterior {
 public:
  static absl::StatusOr<std::unique_ptr<const ScaledPosterior>> Build(const CoKriging& model, const Vector& theta);

  Vector Weights(int) const override { return Vector::Ones(1); }
  Gaussians Predict(const Matrix& x, int level) const override;
  Matrix Gradient(const Matrix& x, int level, const Matrix& mean_bar, const Matrix& variance_bar) const override;
  absl::StatusOr<JointGaussian> Joint(const Matrix& x, const std::vector<int>& levels,
                                      const std::function<absl::Status()>& check) const override;
  absl::StatusOr<Matrix> Sample(const Matrix& x, int level, int count, uint64_t seed, int threads) const override;
  std::unique_ptr<const ScaledPaths> Draw(int level, std::vector<Random> random) const override;
  Gaussians LeaveOneOut(int level) const override;
  double noise(int level) const override { return noise_[level]; }
  double max_jitter() const override { return posterior_.jitter(); }
  int64_t MemoryBytes() const override { return posterior_.MemoryBytes(); }

 private:
  explicit CoKrigingPosterior(GpPosterior posterior) : posterior_(std::move(posterior)) {}

  GpPosterior posterior_;
  std::vector<int> offset_;  // levels+1, as in ScaledData
  std::vector<double> noise_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_CO_KRIGING_POSTERIOR_H_
