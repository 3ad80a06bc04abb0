// FitObserver: lets a caller watch and stop a fit. It is called at every iteration, from the fitting threads, one call at
// a time.
#ifndef FIDELIO_CORE_EMULATOR_FIT_OBSERVER_H_
#define FIDELIO_CORE_EMULATOR_FIT_OBSERVER_H_

#include <cstdint>
#include <string>

#include "core/base/export.h"

namespace fidelio {

struct FitProgress {
  const char* phase = "";    // "optimise", "curvature", "sample", "finish"
  int64_t iteration = 0;     // within the fit, over all phases
  int64_t evaluations = 0;   // gradient evaluations so far
  double fraction = 0;       // 0…1, an estimate of the work done
  double log_posterior = 0;  // of the best or current hyperparameters, up to a constant
  double seconds = 0;        // since the fit started or was resumed
};

class FIDELIO_EXPORT FitObserver {
 public:
  virtual ~FitObserver() = default;

  // Returns false to cancel: the fit then ends with CANCELLED within one iteration.
  virtual bool OnProgress(const FitProgress& progress) = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_FIT_OBSERVER_H_
