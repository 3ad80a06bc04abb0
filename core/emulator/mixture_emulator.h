// MixtureEmulator: what a fit gives, an Emulator that shows the Gaussians of its mixture, for those that build on it
// (TransformedEmulator), and what it was made from.
#ifndef FIDELIO_CORE_EMULATOR_MIXTURE_EMULATOR_H_
#define FIDELIO_CORE_EMULATOR_MIXTURE_EMULATOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"
#include "core/emulator/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/fit_options.h"
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

  // The kind of the bytes of Save (core/base/bytes.h): the same for all models of a method.
  virtual uint32_t checkpoint_kind() const = 0;

  // What the fit did.
  virtual const FitReport& report() const = 0;

  // What the model knows: the observations of the fit, or of Condition since.
  virtual const Dataset& data() const = 0;

  // Bytes of memory that the model takes: an estimate from above.
  virtual int64_t MemoryBytes() const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_MIXTURE_EMULATOR_H_
