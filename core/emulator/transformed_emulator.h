// TransformedEmulator: an Emulator of y = h(z) on top of one of z = g(y) (OutputTransform).
//
// z is a mixture of Gaussians, so y is the mixture of their images under h. Mean and variance are averages over the
// Gaussians of z, not h of their means; median and quantiles are h of those of z; densities are multiplied by g'. With
// include_noise, y is h of a noisy z.
//
// Means, variances, covariances and derivatives of the mean are of z cut off at the ends of the range that the observations
// support (core/emulator/supported_range.h): they would be dominated by tails otherwise. Medians, quantiles, densities and
// samples have no such bound: they are those of h(z). Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_EMULATOR_TRANSFORMED_EMULATOR_H_
#define FIDELIO_CORE_EMULATOR_TRANSFORMED_EMULATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/emulator/emulator.h"
#include "core/emulator/mixture_emulator.h"
#include "core/emulator/output_transform.h"
#include "core/emulator/supported_range.h"

namespace fidelio {

inline constexpr uint32_t kTransformedEmulatorKind = 3;  // of sealed bytes (core/base/bytes.h)

class FIDELIO_EXPORT TransformedEmulator final : public Emulator {
 public:
  // `base` was fitted to the data of TransformOutputs, which also gave `transform`.
  TransformedEmulator(const OutputTransform& transform, std::unique_ptr<const MixtureEmulator> base);

  // What Save() wrote; `load_base` reads the bytes of the base.
  using LoadBase = std::function<absl::StatusOr<std::unique_ptr<const MixtureEmulator>>(absl::string_view)>;
  static absl::StatusOr<std::unique_ptr<TransformedEmulator>> Load(absl::string_view bytes, const LoadBase& load_base);

  int levels() const override { return base_->levels(); }
  int input_dimension() const override { return base_->input_dimension(); }
  absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const override;
  // An output at a bound counts as one gap away from it; one outside is INVALID_ARGUMENT.
  absl::StatusOr<Vector> LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const override;
  // Variances are Predict's; correlations are those of z, which overstates them where h is far from linear. SamplePaths
  // returns exact joint samples.
  absl::StatusOr<JointPosterior> JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                const PredictOptions& options) const override;
  absl::StatusOr<Matrix> JointColumnsAt(const Matrix& x, const std::vector<int>& levels,
                                        const std::vector<int>& columns, const PredictOptions& options) const override;
  absl::StatusOr<Matrix> SamplePaths(const Matrix& x, const SampleOptions& options) const override;
  absl::StatusOr<std::unique_ptr<PathSamples>> DrawPaths(const PathOptions& options) const override;
  absl::StatusOr<std::vector<LeaveOneOut>> LeaveOneOutPredictions() const override;
  // The gaps stay those of the fit.
  absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset& data, int threads) const override;
  std::string Save() const override;

  const OutputTransform& transform() const { return transform_; }
  const MixtureEmulator& base() const { return *base_; }

 private:
  OutputTransform transform_;
  std::unique_ptr<const MixtureEmulator> base_;
  std::vector<SupportedRange> support_;  // per level, of base_->data()
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_TRANSFORMED_EMULATOR_H_
