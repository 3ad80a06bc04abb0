// MfDgpFit: a fit of an MF-DGP (mf_dgp.h) that can be saved while it runs and continued later, in another process.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MF_DGP_FIT_H_
#define FIDELIO_CORE_DGP_MOMENTS_MF_DGP_FIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/emulator/emulator_fit.h"

namespace fidelio {

// Kind of sealed bytes (core/base/bytes.h).
inline constexpr uint32_t kMfDgpFitKind = 2;

class FIDELIO_EXPORT MfDgpFit final : public EmulatorFit {
 public:
  ~MfDgpFit() override;

  static absl::StatusOr<std::unique_ptr<MfDgpFit>> Create(const Dataset& data, const FitOptions& options);

  // Continues from what SaveState() wrote, which contains data, options and progress; `threads` as in FitOptions.
  static absl::StatusOr<std::unique_ptr<MfDgpFit>> Resume(absl::string_view bytes, int threads = 0);

  // Returns a FittedEmulator with an MfDgpPosterior.
  absl::StatusOr<std::unique_ptr<MixtureEmulator>> Run(FitObserver* observer = nullptr) override;
  std::string SaveState() const override;

  // An estimate of the memory, in bytes, of a fit of `counts` observations per level with `threads` threads.
  static double MemoryBytes(const std::vector<int64_t>& counts, int threads);

 private:
  struct Impl;
  explicit MfDgpFit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MF_DGP_FIT_H_
