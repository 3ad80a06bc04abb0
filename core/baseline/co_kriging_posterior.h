// CoKrigingPosterior: AR1 and DEEP-MF, given their data: a mixture of joint Gaussians at every set of inputs and levels, one for
// each draw of the hyperparameters. Predictions at every level use the data of all levels.
#ifndef FIDELIO_CORE_BASELINE_CO_KRIGING_POSTERIOR_H_
#define FIDELIO_CORE_BASELINE_CO_KRIGING_POSTERIOR_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/equal_rows.h"
#include "core/baseline/baseline_posterior.h"
#include "core/baseline/co_kriging.h"
#include "core/gp/gp_posterior.h"

namespace fidelio {

class CoKrigingPosterior : public BaselinePosterior {
 public:
  explicit CoKrigingPosterior(const ScaledData& data);

  // Adds a draw. All models must have the data that this was made with, and the weights must sum to 1 in the end.
  absl::Status Add(const CoKriging& model, const Vector& theta, double weight);

  Vector Weights(int) const override { return weights_; }
  Gaussians Predict(const Matrix& x, int level) const override;
  Matrix Gradient(const Matrix& x, int level, const Matrix& mean_bar, const Matrix& variance_bar) const override;
  absl::StatusOr<JointGaussian> Joint(const Matrix& x, const std::vector<int>& levels,
                                      const JointOptions& options) const override;
  absl::StatusOr<Matrix> Sample(const Matrix& x, int level, const SampleRequest& request) const override;
  std::unique_ptr<const Functions> Draw(const PathOptions& options) const override;
  absl::StatusOr<LeftOut> LeaveOneOut(const FittedState& state, int level, int threads) const override;
  Vector LogLikelihoods(int stage) const override;
  Vector Noise(int level) const override { return noise_.row(level).transpose(); }
  double max_jitter() const override;
  int64_t FactorBytes() const override;

 private:
  std::vector<int> offset_;        // levels+1, as in ScaledData
  std::vector<EqualRows> copies_;  // per level: its observations with equal inputs
  Matrix noise_;                   // levels × draws
  Vector weights_;                 // of the draws
  std::vector<GpPosterior> draws_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_CO_KRIGING_POSTERIOR_H_
