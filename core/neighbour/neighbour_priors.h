// The priors of neighbour layers, and all other constants of fits with such layers, but for those that other models share
// (core/fit/common_priors.h, core/fit/search_settings.h) and the sizes that decide which levels have them (neighbour_dgp.h).
//
// Chosen by hand: `fidelio-bench neighbours` and `fidelio-bench malaria` show what a change does to predictions, `fidelio-bench growth`
// what it costs.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_PRIORS_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_PRIORS_H_

#include <cmath>
#include <cstdint>

#include "core/fit/common_priors.h"
#include "core/fit/search_settings.h"

namespace fidelio {

// A change of these makes saved running fits unusable: raise this with it.
inline constexpr uint32_t kUpperRecipeVersion = 3;

// Neighbour layers. Wide: a level with such a layer has data enough. Logarithms, the noise's of its standard deviation.
inline Prior WideLengthscalePrior(int dimension) { return ShiftedBy(LogRoot(dimension), Prior::Normal(-1, 2)); }
inline Prior WideAmplitudePrior() { return Prior::Normal(0, 2); }
inline Prior WideNoisePrior() { return Prior::Normal(std::log(3e-2), 2); }
inline Prior WideRhoLengthscalePrior(int dimension) { return ShiftedBy(LogRoot(dimension), Prior::Normal(0, 1.5)); }
inline Prior WideLinkPrior() { return Prior::Normal(std::log(1e-2), 2.2); }  // s2 and vf
inline Prior WideDeltaPrior() { return Prior::Normal(std::log(0.1), 2.5); }

// Their fits.
inline constexpr int kConditionals = 2000;   // of Vecchia's likelihood
inline constexpr int kStackIterations = 80;  // of L-BFGS, per family and round
inline constexpr int kMostRefits = 2;        // rounds with new neighbours
inline constexpr double kSameMetric = 0.25;  // log ratios of lengthscales that differ by less give the same neighbours
inline constexpr double kFamiliesShare = 0.7;  // of a level's progress; then kRefitShare for each round
inline constexpr double kRefitShare = 0.1;

// The levels above, with few observations: MF_DGP's priors, but lengthscales follow the stack's in part, and are less certain.
inline constexpr int kMostIntegrated =
    300;  // observations up to which predictions average HMC draws of their hyperparameters
inline constexpr double kStackLean =
    0.5;  // of the logarithm by which the stack's lengthscales differ from the prior's centre
inline constexpr double kLeanRhoScale = 1, kLeanDeltaScale = 1.2;
// With many: they can tell how the link bends (WideLinkPrior), and whether links and discrepancies change as quickly as the
// level below; the discrepancy's lengthscales are e^−½ of its.
inline constexpr double kFollowScale = 1.5, kFollowDelta = -0.5;

// With more than kMostIntegrated observations, so many of them find the kernel families and starts (a sketch).
inline constexpr int kSketch = 300;
inline constexpr int kSketchStarts =
    3;  // modes of the sketch, of different structures, that are followed on all observations
inline constexpr double kLeastModeWeight = 0.05;  // modes below it are dropped

// Of the progress bar.
inline constexpr double kStackShare = 0.4, kSketchShare = 0.2;

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_PRIORS_H_
