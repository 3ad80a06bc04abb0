// EmulatorFit: a fit of any model that can be saved while it runs and continued later, in another process.
//
// Saved and continued as often as one likes, it gives the same model, bit for bit, as without interruption (except for a
// time budget, which cuts where it cuts).
#ifndef FIDELIO_CORE_EMULATOR_EMULATOR_FIT_H_
#define FIDELIO_CORE_EMULATOR_EMULATOR_FIT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/emulator/fit_observer.h"
#include "core/emulator/mixture_emulator.h"

namespace fidelio {

class FIDELIO_EXPORT EmulatorFit {
 public:
  virtual ~EmulatorFit() = default;

  // Runs to the end, once. After CANCELLED it may be called again, or saved and resumed.
  virtual absl::StatusOr<std::unique_ptr<MixtureEmulator>> Run(FitObserver* observer) = 0;

  // All that is needed to continue, as versioned, checksummed bytes; the observations need not be among them (see
  // EmulatorMethod::resume). Thread-safe: may be called while Run is going on, also from the observer.
  virtual std::string SaveState() const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_EMULATOR_FIT_H_
