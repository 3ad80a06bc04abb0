// The modes of a fit: which are worth sampling, and how much each counts.
#ifndef FIDELIO_CORE_DGP_MOMENT_MODES_H_
#define FIDELIO_CORE_DGP_MOMENT_MODES_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/dgp/moment_fit.h"
#include "core/dgp/moment_recursion.h"

namespace fidelio {

// The distinct ends of the L-BFGS runs, those of structures with all levels first, then by their value, without those far
// below the best that uses the same levels.
std::vector<ModeState> DistinctModes(const std::vector<StartState>& ends,
                                     const std::vector<std::shared_ptr<const MomentModel>>& structures);

// From Hessians to evidence (Laplace's) and the bases for HMC.
absl::Status MeasureEvidence(std::vector<ModeState>& modes);

// A structure that leaves out the lowest levels explains less data. To compare it with the others, its modes' evidence is
// multiplied by that of the data left out, Z(y_<s) = Z(y) / Z(y_≥s | y_<s), both by Laplace at the best mode of all levels:
// the second with the parameters of the levels below s held fixed. Outputs are brought to the same units.
// modes[0] is that best mode, `recursion` was run at it.
absl::Status CompleteEvidence(const std::vector<std::shared_ptr<const MomentModel>>& structures,
                              const MomentRecursion& recursion, std::vector<ModeState>& modes);

// Weights ∝ evidence^(1/temperature), at most `chains` of them not 0, summing to 1. The best mode of all levels always keeps
// some: predictions of the lower levels need it.
void WeighByEvidence(const MomentFitSettings& settings, std::vector<ModeState>& modes);

// One chain for every mode with a weight, the others where the weight per chain is largest.
std::vector<ChainState> AllotChains(int chains, const std::vector<ModeState>& modes);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENT_MODES_H_
