// NearestEmulator: the output of the nearest observation, as a method that only tests have. It shows that a model is a folder.
//
//   f_t(x) = y_j + B_j(d),   j nearest to x at level t,   d = |x − x_j|,   B_j Brownian motions, independent of each other
//   mean y_j,   variance c_t d,   cov(f_t(x), f_t(x')) = c_t min(d, d') where both have the same nearest observation, else 0
//
// c_t is the mean of (y_i − y_j)²/|x_i − x_j| over the observations and their nearest others, times the option "margin" (≥ 1).
// Levels know nothing of each other. Limits: x = x_j ⇒ variance 0 without noise. Immutable; safe to share between threads.
#ifndef FIDELIO_TESTS_METHODS_NEAREST_NEAREST_EMULATOR_H_
#define FIDELIO_TESTS_METHODS_NEAREST_NEAREST_EMULATOR_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/emulator/emulator_fit.h"
#include "core/emulator/mixture_emulator.h"
#include "core/registry/model_kind.h"

namespace fidelio {

inline constexpr ModelKind kNearestKind{1000};  // a number that fidelio.v1 does not name
inline constexpr Inference kNearestInference{1000};
inline constexpr uint32_t kNearestBytes = 1000, kNearestFitBytes = 1001;

class NearestEmulator final : public MixtureEmulator {
 public:
  // `growth` has c_t per level.
  NearestEmulator(Dataset data, Vector growth, FitReport report)
      : data_(std::move(data)), growth_(std::move(growth)), report_(report) {}
  static absl::StatusOr<std::unique_ptr<MixtureEmulator>> Load(absl::string_view bytes);

  int levels() const override { return static_cast<int>(data_.levels.size()); }
  int input_dimension() const override { return data_.dimension(); }
  absl::StatusOr<Mixture> PredictMixture(const Matrix& x, const PredictOptions& options) const override;
  absl::StatusOr<Matrix> MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                         const PredictOptions& options) const override;
  absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const override;
  absl::StatusOr<Vector> LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const override;
  absl::StatusOr<JointPosterior> JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                const PredictOptions& options) const override;
  absl::StatusOr<Matrix> SamplePaths(const Matrix& x, const SampleOptions& options) const override;
  absl::StatusOr<std::unique_ptr<PathSamples>> DrawPaths(const PathOptions& options) const override;  // UNIMPLEMENTED
  absl::StatusOr<std::vector<ObservedMixtures>> LeaveOneOutMixtures() const override;
  absl::StatusOr<std::vector<LeaveOneOut>> LeaveOneOutPredictions() const override;
  absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset& data, int threads) const override;
  std::string Save() const override;
  uint32_t checkpoint_kind() const override { return kNearestBytes; }
  const FitReport& report() const override { return report_; }
  const Dataset& data() const override { return data_; }
  int64_t MemoryBytes() const override;

 private:
  int LevelOf(int level) const { return level < 0 ? levels() - 1 : level; }
  double Noise(int level) const;

  const Dataset data_;
  const Vector growth_;
  const FitReport report_;
};

class NearestFit final : public EmulatorFit {
 public:
  static absl::StatusOr<std::unique_ptr<EmulatorFit>> Create(const Dataset& data, const FitOptions& options);
  static absl::StatusOr<std::unique_ptr<EmulatorFit>> Resume(absl::string_view state, const Dataset& data, int threads);

  absl::StatusOr<std::unique_ptr<MixtureEmulator>> Run(FitObserver* observer) override;
  std::string SaveState() const override;

 private:
  NearestFit(Dataset data, double margin) : data_(std::move(data)), margin_(margin) {}

  const Dataset data_;
  const double margin_;
};

}  // namespace fidelio

#endif  // FIDELIO_TESTS_METHODS_NEAREST_NEAREST_EMULATOR_H_
