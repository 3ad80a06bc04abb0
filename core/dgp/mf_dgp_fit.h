// MfDgpFit: a fit of an MfDgp that can be saved while it runs and continued later, in another process.
//
// Saved and continued as often as one likes, it gives the same model, bit for bit, as without interruption (except for a
// time budget, which cuts where it cuts).
#ifndef FIDELIO_CORE_DGP_MF_DGP_FIT_H_
#define FIDELIO_CORE_DGP_MF_DGP_FIT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/dgp/mf_dgp.h"

namespace fidelio {

class FIDELIO_EXPORT MfDgpFit {
 public:
  ~MfDgpFit();

  static absl::StatusOr<std::unique_ptr<MfDgpFit>> Create(const Dataset& data, const FitOptions& options);

  // Continues what SaveState() wrote: data, options and progress are inside; `threads` as in FitOptions.
  static absl::StatusOr<std::unique_ptr<MfDgpFit>> Resume(absl::string_view bytes, int threads = 0);

  // Runs to the end, once. After CANCELLED it may be called again, or saved and resumed.
  absl::StatusOr<std::unique_ptr<MfDgp>> Run(FitObserver* observer = nullptr);

  // Thread-safe: may be called while Run is going on, also from the observer.
  std::string SaveState() const;

 private:
  struct Impl;
  explicit MfDgpFit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MF_DGP_FIT_H_
