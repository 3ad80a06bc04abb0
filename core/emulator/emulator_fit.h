// EmulatorFit: a fit that can be saved while it runs and continued later, in another process.
//
// However often it is saved and continued, the result is the same model, bit for bit, as without interruption, unless a time
// budget ends it.
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

  // Runs to the end. Call it once; after CANCELLED it may be called again, or saved and resumed.
  virtual absl::StatusOr<std::unique_ptr<MixtureEmulator>> Run(FitObserver* observer) = 0;

  // Everything needed to continue, as versioned, checksummed bytes, with or without the observations (see
  // EmulatorMethod::resume). Thread-safe: may be called during Run, also from the observer.
  virtual std::string SaveState() const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_EMULATOR_FIT_H_
