// Options of a fit, and what it reports.
#ifndef FIDELIO_CORE_EMULATOR_FIT_OPTIONS_H_
#define FIDELIO_CORE_EMULATOR_FIT_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "core/base/export.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

class Emulator;

struct FitOptions {
  std::optional<KernelFamily> kernel = KernelFamily::kRbf;  // absent: families are averaged by their evidence
  // The same seed gives the same model, whatever the number of threads, unless max_seconds ends the fit.
  uint64_t seed = 0;
  int threads = 0;                                               // 0: all cores
  double max_seconds = std::numeric_limits<double>::infinity();  // > 0; then the best so far is returned
  // > 0, over all phases; then the best so far is returned. Each starting point of a fit gets at least one.
  int64_t max_iterations = std::numeric_limits<int64_t>::max();
  // Of the sparse methods (mf_dgp_variational, mf_dgp_svi); 0: chosen by the method.
  int inducing_points = 0;  // ≥ 0, per layer and at most
  int batch_size = 0;       // ≥ 0, observations of a level per step of mf_dgp_svi, at most
  int64_t steps = 0;        // ≥ 0, of mf_dgp_svi
  // Of ar1, ar1_recursive, nargp and deep_mf: hyperparameters at their most probable values instead of an average over them.
  bool point_estimate = false;
  // Options that a method registers and that have no field here, by name.
  std::map<std::string, double> method_options = {};
  // Start from this model, fitted by the same method with the same numbers of levels and inputs. It may be gone once the fit
  // is created.
  const Emulator* warm_start = nullptr;
};

FIDELIO_EXPORT absl::Status Validate(const FitOptions& options);

// What a fit did.
struct FitReport {
  int64_t evaluations = 0;  // of the log posterior with its gradient
  double seconds = 0;
  double log_posterior = 0;  // at the best mode
  double acceptance = 0;     // of HMC
  double max_jitter = 0;     // largest relative jitter that a factorisation needed
  int draws = 0;             // hyperparameter vectors that a prediction averages
  // Of HMC; 0 where nothing was sampled, and of models from before these were kept.
  int chains = 0;
  double r_hat = 0;           // split R̂, the largest of all modes and hyperparameters; 0: unknown
  double effective_size = 0;  // of the transitions after warm-up, the smallest of all hyperparameters; 0: unknown
  int moved_chains = 0;       // ended in another mode, where their draws were counted
  int failed_curvature = 0;   // columns of Hessians that could not be measured: the prior's stand in for them
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_FIT_OPTIONS_H_
