// The modes of a fit: which are worth sampling, and how much each counts.
#ifndef FIDELIO_CORE_DGP_MOMENT_MODES_H_
#define FIDELIO_CORE_DGP_MOMENT_MODES_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/dgp/moment_fit.h"

namespace fidelio {

// The distinct ends of the L-BFGS runs, best first, without those far below the best.
std::vector<ModeState> DistinctModes(const std::vector<StartState>& ends,
                                     const std::vector<std::shared_ptr<const MomentModel>>& structures);

// From Hessians to evidence, weights (∝ evidence^(1/temperature), at most `chains` of them not 0, summing to 1) and the
// bases for HMC.
absl::Status WeighByEvidence(const MomentFitSettings& settings, std::vector<ModeState>& modes);

// One chain for every mode with a weight, the others where the weight per chain is largest.
std::vector<ChainState> AllotChains(int chains, const std::vector<ModeState>& modes);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENT_MODES_H_
