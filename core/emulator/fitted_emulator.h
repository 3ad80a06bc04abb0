// FittedEmulator: the result of a fit, whichever method made it: a Posterior in standardised units, served in the user's.
//
//   y = output_mean + output_sd·f          variance of an observation: output_sd²·(v_s + learned noise_s) + given noise
//
// A new observation of a level with given noise has the mean of the given variances. Variances of the highest level are multiplied
// by the inflation (core/emulator/inflation.h); given noise is not.
#ifndef FIDELIO_CORE_EMULATOR_FITTED_EMULATOR_H_
#define FIDELIO_CORE_EMULATOR_FITTED_EMULATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/emulator/mixture_emulator.h"
#include "core/emulator/posterior.h"

namespace fidelio {

class FIDELIO_EXPORT FittedEmulator final : public MixtureEmulator {
 public:
  // With the inflation that `state` has.
  FittedEmulator(FittedState state, std::unique_ptr<const Posterior> posterior);
  // With the inflation that leave-one-out asks for, or, with too many observations for it, the one that `state` has.
  static absl::StatusOr<std::unique_ptr<FittedEmulator>> Create(FittedState state,
                                                                std::unique_ptr<const Posterior> posterior,
                                                                int threads);

  const FittedState& state() const { return state_; }
  const Posterior& posterior() const { return *posterior_; }

  int levels() const override { return static_cast<int>(state_.data.levels.size()); }
  int input_dimension() const override { return state_.data.dimension(); }
  absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const override;
  absl::StatusOr<Mixture> PredictMixture(const Matrix& x, const PredictOptions& options) const override;
  absl::StatusOr<Matrix> MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                         const PredictOptions& options) const override;
  absl::StatusOr<Vector> LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const override;
  absl::StatusOr<JointPosterior> JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                const PredictOptions& options) const override;
  absl::StatusOr<Matrix> JointColumnsAt(const Matrix& x, const std::vector<int>& levels,
                                        const std::vector<int>& columns, const PredictOptions& options) const override;
  absl::StatusOr<Matrix> SamplePaths(const Matrix& x, const SampleOptions& options) const override;
  absl::StatusOr<std::unique_ptr<PathSamples>> DrawPaths(const PathOptions& options) const override;
  absl::StatusOr<std::vector<ObservedMixtures>> LeaveOneOutMixtures() const override;
  absl::StatusOr<std::vector<LeaveOneOut>> LeaveOneOutPredictions() const override;
  // Returns a FittedEmulator. FAILED_PRECONDITION if a level's noise was learned and is given now, or the other way round.
  absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset& data, int threads) const override;
  std::string Save() const override { return posterior_->Save(state_); }

  uint32_t checkpoint_kind() const override { return posterior_->checkpoint_kind(); }
  const FitReport& report() const override { return state_.report; }
  const Dataset& data() const override { return state_.data; }
  int64_t MemoryBytes() const override { return posterior_->MemoryBytes(state_.data); }

 private:
  class Paths;

  int LevelOf(int level) const { return level < 0 ? levels() - 1 : level; }
  double InflationAt(int level) const { return level + 1 == levels() ? state_.inflation.factor : 1; }
  // Of each row, what standardised deviations at its level are multiplied by.
  Vector FactorsAt(const std::vector<int>& levels) const;
  // The mean noise variance of the Gaussians at a level, inflated.
  double MeanNoise(int level) const;

  // body(first row, rows, their block) for the rows of x, some at a time.
  using BlockBody = std::function<void(Eigen::Index begin, Eigen::Index n, Posterior::Block& block)>;
  void ForBlocks(const Matrix& x, int level, int threads, const BlockBody& body) const;
  Mixture MixtureAt(Posterior::Block& block, int level, bool include_noise) const;
  Matrix GradientAt(Posterior::Block& block, int level, Matrix mean_bar, Matrix variance_bar) const;

  FittedState state_;
  std::unique_ptr<const Posterior> posterior_;
  // Per level: weights of the Gaussians, and their noise variances in the user's units, before inflation.
  std::vector<Vector> weights_, noises_;
};

// The observations of a level, each predicted without itself and without inflation, in the user's units.
absl::StatusOr<ObservedMixtures> LeaveOut(const FittedState& state, const Posterior& posterior, int level, int threads);

// OK, or DATA_LOSS when what was read from a checkpoint is invalid.
absl::Status CheckLoadedData(const Dataset& data);
absl::Status CheckLoaded(const FittedState& state);

// OK, or INVALID_ARGUMENT when a warm start has other numbers of levels or inputs.
FIDELIO_EXPORT absl::Status CheckWarmStart(const Emulator& warm, const Dataset& data);

// Whether a level learns the same noise in both: otherwise hyperparameters of one mean nothing to the other.
bool SameNoise(const Dataset& a, const Dataset& b);

// options.warm_start, a model with a posterior of type P, or null without one. INVALID_ARGUMENT for another method or shape.
template <typename P>
struct WarmModel {
  const FittedEmulator* model = nullptr;
  const P* posterior = nullptr;
};
template <typename P>
absl::StatusOr<WarmModel<P>> WarmStartOf(const FitOptions& options, const Dataset& data) {
  WarmModel<P> warm;
  if (options.warm_start == nullptr) return warm;
  warm.model = dynamic_cast<const FittedEmulator*>(options.warm_start);
  if (warm.model != nullptr) warm.posterior = dynamic_cast<const P*>(&warm.model->posterior());
  if (warm.posterior == nullptr) return absl::InvalidArgumentError("warm_start: a model that another method fitted");
  const absl::Status status = CheckWarmStart(*warm.model, data);
  if (!status.ok()) return status;
  return warm;
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_FITTED_EMULATOR_H_
