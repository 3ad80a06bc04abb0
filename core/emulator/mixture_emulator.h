// MixtureEmulator: the result of a fit. An Emulator that gives access to the Gaussians of its mixture, on which
// TransformedEmulator builds, and to the data and report of the fit.
#ifndef FIDELIO_CORE_EMULATOR_MIXTURE_EMULATOR_H_
#define FIDELIO_CORE_EMULATOR_MIXTURE_EMULATOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/fit_options.h"
#include "core/emulator/mixture.h"

namespace fidelio {

// Condition returns a MixtureEmulator.
class FIDELIO_EXPORT MixtureEmulator : public Emulator {
 public:
  // The mixture at the rows of x that Predict summarises; options.quantiles and input_gradient are ignored. Holds two
  // S×n matrices: split many rows into several calls.
  virtual absl::StatusOr<Mixture> PredictMixture(const Matrix& x, const PredictOptions& options) const = 0;

  // ∂F/∂x (n×d) from ∂F/∂mean and ∂F/∂variance of a function F of that mixture (S×n each; columns are rows of x).
  virtual absl::StatusOr<Matrix> MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                                 const PredictOptions& options) const = 0;

  // The mixtures that LeaveOneOutPredictions summarises, one entry per level.
  virtual absl::StatusOr<std::vector<ObservedMixtures>> LeaveOneOutMixtures() const = 0;

  // The kind of the bytes of Save (core/base/bytes.h): the same for all models of a method.
  virtual uint32_t checkpoint_kind() const = 0;

  // What the fit did.
  virtual const FitReport& report() const = 0;

  // The observations that the model knows, from the fit or the latest Condition.
  virtual const Dataset& data() const = 0;

  // An upper estimate of the memory that the model takes, in bytes.
  virtual int64_t MemoryBytes() const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_MIXTURE_EMULATOR_H_
