// The multi-fidelity deep Gaussian process (Cutajar et al. 2019), inference MOMENTS.
//
//   f_1 ~ GP,   f_t(x) = ρ_t f_{t−1}(x) + g_t(x, f_{t−1}(x)),   g_t ~ GP with the paper's composite kernel,   y_t = f_t + noise
//
// f_t given the data below is replaced by the GP with the same mean and covariance (exact for linear links). Predictions average
// HMC draws of the hyperparameters around the modes of a few structures, weighted by the roots of their Laplace evidence: near the
// posterior, but not the posterior (core/fit/search.h). With one level each draw is an exact GP. Predictions at every level use the data
// of all levels (moment_posterior.h).
#ifndef FIDELIO_CORE_DGP_MOMENTS_MF_DGP_H_
#define FIDELIO_CORE_DGP_MOMENTS_MF_DGP_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/export.h"
#include "core/data/dataset.h"
#include "core/emulator/fit_observer.h"
#include "core/emulator/fit_options.h"
#include "core/emulator/fitted_emulator.h"

namespace fidelio {

// Kind of sealed bytes (core/base/bytes.h), and their version.
inline constexpr uint32_t kMfDgpKind = 1;
inline constexpr uint32_t kMfDgpVersion = 3;

// Runs a whole fit. INVALID_ARGUMENT or FAILED_PRECONDITION for bad data or options, CANCELLED when the observer cancels.
// To save a running fit and continue it later, use MfDgpFit.
FIDELIO_EXPORT absl::StatusOr<std::unique_ptr<MixtureEmulator>> FitMfDgp(const Dataset& data, const FitOptions& options,
                                                                         FitObserver* observer = nullptr);

// Reads what Save() of such a model wrote; predicts the same bits on the same machine. DATA_LOSS or INVALID_ARGUMENT otherwise.
FIDELIO_EXPORT absl::StatusOr<std::unique_ptr<FittedEmulator>> LoadMfDgp(absl::string_view bytes);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MF_DGP_H_
