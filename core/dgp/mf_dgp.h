// MfDgp: the multi-fidelity deep Gaussian process, inference MOMENTS (hyperparameters integrated out by HMC).
#ifndef FIDELIO_CORE_DGP_MF_DGP_H_
#define FIDELIO_CORE_DGP_MF_DGP_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/emulator/dataset.h"
#include "core/emulator/emulator.h"
#include "core/emulator/fit_observer.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

class MfDgp;

struct FitOptions {
  std::optional<KernelFamily> kernel = KernelFamily::kRbf;  // absent: chosen by evidence
  uint64_t seed = 0;                                        // the same seed gives the same bits, whatever the threads
  int threads = 0;                                          // 0: all cores
  double max_seconds = std::numeric_limits<double>::infinity();  // then the best so far is returned
  const MfDgp* warm_start = nullptr;  // starts from this model's draws; must have the same levels and dimension
};

// What a fit did.
struct FitReport {
  int64_t evaluations = 0;   // of the log posterior with its gradient
  double seconds = 0;
  double log_posterior = 0;  // at the mode
  double acceptance = 0;     // of HMC
  double max_jitter = 0;     // largest relative jitter that a factorisation needed
  KernelFamily kernel = KernelFamily::kRbf;
};

class FIDELIO_EXPORT MfDgp : public Emulator {
 public:
  static absl::StatusOr<std::unique_ptr<MfDgp>> Fit(const Dataset& data, const FitOptions& options,
                                                    FitObserver* observer = nullptr);
  static absl::StatusOr<std::unique_ptr<MfDgp>> Load(absl::string_view bytes);

  virtual const FitReport& report() const = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MF_DGP_H_
