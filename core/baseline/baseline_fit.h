// BaselineFit: a fit of a classic model (BaselineMethod) that can be saved while it runs and continued later, in another process.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_FIT_H_
#define FIDELIO_CORE_BASELINE_BASELINE_FIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/baseline/baseline_method.h"
#include "core/data/dataset.h"
#include "core/emulator/emulator_fit.h"
#include "core/emulator/fit_options.h"

namespace fidelio {

class FIDELIO_EXPORT BaselineFit final : public EmulatorFit {
 public:
  ~BaselineFit() override;

  // INVALID_ARGUMENT or FAILED_PRECONDITION for bad data or options. Without a kernel family, all are averaged by their evidence,
  // by each level of a chain for itself.
  static absl::StatusOr<std::unique_ptr<BaselineFit>> Create(BaselineMethod method, const Dataset& data,
                                                             const FitOptions& options);

  // Continues what SaveState() wrote: data, options and progress are inside; `threads` as in FitOptions.
  static absl::StatusOr<std::unique_ptr<BaselineFit>> Resume(BaselineMethod method, absl::string_view bytes,
                                                             int threads = 0);

  // Gives a FittedEmulator with a BaselinePosterior.
  absl::StatusOr<std::unique_ptr<MixtureEmulator>> Run(FitObserver* observer = nullptr) override;
  std::string SaveState() const override;

  // An estimate of the memory, in bytes, of a fit of this many observations per level with this many threads.
  static double MemoryBytes(BaselineMethod method, const std::vector<int64_t>& counts, int threads);

 private:
  struct Impl;
  explicit BaselineFit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_FIT_H_
