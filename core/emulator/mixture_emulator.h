// MixtureEmulator: an Emulator that shows the Gaussians of its mixture, for those that build on it (TransformedEmulator).
#ifndef FIDELIO_CORE_EMULATOR_MIXTURE_EMULATOR_H_
#define FIDELIO_CORE_EMULATOR_MIXTURE_EMULATOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"
#include "core/emulator/emulator.h"
#include "core/emulator/mixture.h"

namespace fidelio {

// Condition gives a MixtureEmulator again.
class FIDELIO_EXPORT MixtureEmulator : public Emulator {
 public:
  // The mixture at the rows of x that Predict summarises; options.quantiles and input_gradient are ignored. Holds S×n
  // numbers twice: for many rows, call it for some at a time.
  virtual absl::StatusOr<Mixture> PredictMixture(const Matrix& x, const PredictOptions& options) const = 0;

  // Given ∂F/∂mean and ∂F/∂variance of a function of that mixture (S×n each): ∂F/∂x, n×d. Columns belong to rows of x.
  virtual absl::StatusOr<Matrix> MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                                 const PredictOptions& options) const = 0;

  // The mixtures that LeaveOneOutPredictions summarises, one entry per level.
  virtual absl::StatusOr<std::vector<ObservedMixtures>> LeaveOneOutMixtures() const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_MIXTURE_EMULATOR_H_
