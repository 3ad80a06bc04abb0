// MfDgp: the multi-fidelity deep Gaussian process (Cutajar et al. 2019), inference MOMENTS.
//
//   f_1 ~ GP,   f_t(x) = ρ_t f_{t−1}(x) + g_t(x, f_{t−1}(x)),   g_t ~ GP with the paper's composite kernel,   y_t = f_t + noise
//
// f_t given the data below is replaced by the GP with the same mean and covariance (exact for linear links). Predictions average
// HMC draws of the hyperparameters around the modes of a few structures, weighted by the roots of their Laplace evidence: near the
// posterior, but not the posterior (core/fit/search.h). With one level each draw is an exact GP. Predictions at every level use the data
// of all levels (moment_posterior.h).
#ifndef FIDELIO_CORE_DGP_MOMENTS_MF_DGP_H_
#define FIDELIO_CORE_DGP_MOMENTS_MF_DGP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/fit_observer.h"
#include "core/emulator/fit_options.h"
#include "core/emulator/mixture_emulator.h"

namespace fidelio {

// Kind of sealed bytes (core/base/bytes.h).
inline constexpr uint32_t kMfDgpKind = 1;

class MfDgpFit;

class FIDELIO_EXPORT MfDgp final : public MixtureEmulator {
 public:
  ~MfDgp() override;

  // Runs a whole fit. INVALID_ARGUMENT or FAILED_PRECONDITION for bad data or options, CANCELLED when the observer cancels.
  // To save a running fit and continue it later, use MfDgpFit.
  static absl::StatusOr<std::unique_ptr<MfDgp>> Fit(const Dataset& data, const FitOptions& options,
                                                    FitObserver* observer = nullptr);

  // Reads what Save() wrote; predicts the same bits on the same machine. DATA_LOSS or INVALID_ARGUMENT otherwise.
  static absl::StatusOr<std::unique_ptr<MfDgp>> Load(absl::string_view bytes);

  int levels() const override;
  int input_dimension() const override;
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
  // Returns an MfDgp. The hyperparameter draws stay and are reweighted by their likelihood: good for a few more points; a fit
  // learns more from many. FAILED_PRECONDITION if a level's noise was learned and is given now, or the other way round.
  absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset& data, int threads) const override;
  std::string Save() const override;

  uint32_t checkpoint_kind() const override { return kMfDgpKind; }
  const FitReport& report() const override;
  const Dataset& data() const override;
  int64_t MemoryBytes() const override;

 private:
  friend class MfDgpFit;
  struct Impl;
  class Paths;
  explicit MfDgp(std::unique_ptr<const Impl> impl);

  std::unique_ptr<const Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MF_DGP_H_
