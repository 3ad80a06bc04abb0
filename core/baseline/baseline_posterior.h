// BaselinePosterior: what a classic multi-fidelity model predicts, averaged over draws of its hyperparameters.
//
// AR1 and DEEP-MF (CoKrigingPosterior) predict every level from the data of all levels; AR1 (recursive) and NARGP (ChainPosterior)
// predict a level from its data and those below. Immutable once it has its parameters; safe to share between threads.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_POSTERIOR_H_
#define FIDELIO_CORE_BASELINE_BASELINE_POSTERIOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/baseline/baseline_method.h"
#include "core/baseline/stage_form.h"
#include "core/data/dataset.h"
#include "core/emulator/fitted_emulator.h"
#include "core/emulator/posterior.h"

namespace fidelio {

class BaselinePosterior : public Posterior {
 public:
  // At the rows of x (n×d, scaled): f without noise.
  virtual Gaussians Predict(const Matrix& x, int level) const = 0;
  // Given ∂F/∂mean and ∂F/∂variance of that (S×n each): ∂F/∂x.
  virtual Matrix Gradient(const Matrix& x, int level, const Matrix& mean_bar, const Matrix& variance_bar) const = 0;
  // log p(data of a stage (BaselineModel) | draw), one per draw.
  virtual Vector LogLikelihoods(int stage) const = 0;
  virtual double max_jitter() const = 0;

  // What this was made from.
  void SetParameters(BaselineMethod method, std::vector<StageParameters> stages) {
    method_ = method;
    stages_ = std::move(stages);
  }
  BaselineMethod method() const { return method_; }
  const std::vector<StageParameters>& stages() const { return stages_; }

  std::unique_ptr<Block> At(Matrix x, int level) const override;
  absl::StatusOr<std::unique_ptr<const Posterior>> Condition(const FittedState& before, const Dataset& data,
                                                             int threads) const override;
  std::string Save(const FittedState& state) const override;
  uint32_t checkpoint_kind() const override { return CheckpointKindOf(method_); }
  void Describe(FitReport& report) const override;
  int64_t MemoryBytes(const Dataset& data) const override;

 protected:
  virtual int64_t FactorBytes() const = 0;

 private:
  BaselineMethod method_ = BaselineMethod::kAr1;
  std::vector<StageParameters> stages_;
};

// What FittedEmulator::Save wrote of that method's model; predicts the same bits on the same machine. DATA_LOSS or INVALID_ARGUMENT
// otherwise.
absl::StatusOr<std::unique_ptr<FittedEmulator>> LoadBaseline(BaselineMethod method, absl::string_view bytes);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_POSTERIOR_H_
