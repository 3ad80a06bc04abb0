// The modes of a fit: which are worth sampling, and how much each counts.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_MODES_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_MODES_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/dgp/moments/moment_fit.h"
#include "core/dgp/moments/moment_recursion.h"
#include "core/optim/mode_chains.h"

namespace fidelio {

// The distinct ends of the L-BFGS runs, those of structures with all levels first, then by their value, without those far
// below the best that uses the same levels.
std::vector<ModeState> DistinctModes(const std::vector<StartState>& ends,
                                     const std::vector<std::shared_ptr<const MomentModel>>& structures);

// From Hessians to evidence (Laplace's) and the bases for HMC.
absl::Status MeasureEvidence(std::vector<ModeState>& modes);

// A structure that leaves out the lowest levels explains less data. To compare it with the others, its modes' evidence is
// multiplied by that of the data left out, Z(y_<s) = Z(y) / Z(y_≥s | y_<s), both by Laplace at the best mode of all levels:
// the second with the parameters of the levels below s held fixed. The curvature there is sharpened by the data above, so that
// Z(y_<s) comes out too small; kPartLogPrior makes up for it on average. All structures have the same output scaling. modes[0] is that best mode, `recursion` was run at it.
absl::Status CompleteEvidence(const std::vector<std::shared_ptr<const MomentModel>>& structures,
                              const MomentRecursion& recursion, std::vector<ModeState>& modes);

// Weights ∝ evidence^(1/temperature), at most `modes` of them not 0, summing to 1. The best mode of all levels always keeps
// some: predictions of the lower levels need it.
void WeighByEvidence(const MomentFitSettings& settings, std::vector<ModeState>& modes);

// Chains for every mode with a weight, as AllotChains of core/optim/mode_chains.h gives them.
std::vector<ChainState> StartChains(int chains, const std::vector<ModeState>& modes);

// The same modes and chains as core/optim/mode_chains.h has them.
std::vector<ModeRegion> RegionsOf(const std::vector<ModeState>& modes);
std::vector<ModeChain> TracesOf(const std::vector<ChainState>& chains);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_MODES_H_
