// BaselineEmulator: a classic multi-fidelity model (BaselineMethod), averaged over draws of its hyperparameters.
//
// AR1 and DEEP-MF predict every level from the data of all levels; the chains predict a level from its data and those below, NARGP
// by a mixture over the uncertainty of the level below, too. Variances of the highest level are multiplied by
// the mean squared standardised leave-one-out residual of its data, where that is above 1.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_EMULATOR_H_
#define FIDELIO_CORE_BASELINE_BASELINE_EMULATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/baseline/baseline_method.h"
#include "core/data/dataset.h"
#include "core/emulator/fit_observer.h"
#include "core/emulator/fit_options.h"
#include "core/emulator/mixture_emulator.h"

namespace fidelio {

class BaselineModel;
class ScaledPosterior;
struct StageParameters;

class FIDELIO_EXPORT BaselineEmulator final : public MixtureEmulator {
 public:
  ~BaselineEmulator() override;

  // Fits from the beginning to the end. To save a running fit and continue it later: BaselineFit.
  static absl::StatusOr<std::unique_ptr<BaselineEmulator>> Fit(BaselineMethod method, const Dataset& data,
                                                               const FitOptions& options,
                                                               FitObserver* observer = nullptr);

  // What Save() of that method's model wrote; predicts the same bits on the same machine. DATA_LOSS or INVALID_ARGUMENT
  // otherwise.
  static absl::StatusOr<std::unique_ptr<BaselineEmulator>> Load(BaselineMethod method, absl::string_view bytes);

  BaselineMethod method() const;
  int levels() const override;
  int input_dimension() const override;
  absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const override;
  absl::StatusOr<Mixture> PredictMixture(const Matrix& x, const PredictOptions& options) const override;
  absl::StatusOr<Matrix> MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                         const PredictOptions& options) const override;
  absl::StatusOr<Vector> LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const override;
  absl::StatusOr<JointPosterior> JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                const PredictOptions& options) const override;
  // NARGP: samples of f, level by level; the mixture's Gaussians have those of single inputs.
  absl::StatusOr<Matrix> SamplePaths(const Matrix& x, const SampleOptions& options) const override;
  absl::StatusOr<std::unique_ptr<PathSamples>> DrawPaths(const PathOptions& options) const override;
  absl::StatusOr<std::vector<ObservedMixtures>> LeaveOneOutMixtures() const override;
  absl::StatusOr<std::vector<LeaveOneOut>> LeaveOneOutPredictions() const override;
  // Returns a BaselineEmulator with the same hyperparameter draws, reweighted. FAILED_PRECONDITION if a level's noise was
  // learned and is given now, or the other way round.
  absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset& data, int threads) const override;
  std::string Save() const override;

  uint32_t checkpoint_kind() const override { return CheckpointKindOf(method()); }
  const FitReport& report() const override;
  const Dataset& data() const override;
  int64_t MemoryBytes() const override;

 private:
  friend class BaselineFit;
  class Paths;
  struct Impl;
  explicit BaselineEmulator(std::unique_ptr<const Impl> impl);

  std::unique_ptr<const Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_EMULATOR_H_
