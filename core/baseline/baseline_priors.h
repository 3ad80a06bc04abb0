// The priors of the classic models' hyperparameters, and all other constants of their fits, but for those that other models share
// (core/fit/common_priors.h, core/fit/search_settings.h).
//
// Chosen by hand, on seeds other than those of the published table: `fidelio-bench problems`, `table1` and `synthetic` with
// `--methods ar1,ar1_recursive,nargp,deep_mf` show what a change does.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_PRIORS_H_
#define FIDELIO_CORE_BASELINE_BASELINE_PRIORS_H_

#include <cmath>
#include <cstdint>

#include "core/fit/common_priors.h"
#include "core/fit/search_settings.h"

namespace fidelio {

// A change of these or of the search's starts makes saved running fits unusable: raise this with it.
inline constexpr uint32_t kBaselineRecipeVersion = 3;

// What a level adds to the one below.
inline Prior DeltaAmplitudePrior() { return Prior::Student(std::log(0.01), 4.5, 4); }

// NARGP's link (ChainLayer): how it changes with x, relative to how it changes with f; its slope's variance; how far it is straight.
inline Prior LinkLengthscalePrior(int dimension) { return ShiftedBy(LogRoot(dimension), Prior::Normal(2.5, 1)); }
inline Prior LinkAmplitudePrior() { return Prior::Normal(0, 1.5); }
inline Prior LinkOutputLengthscalePrior() { return Prior::Normal(3, 1); }

// DEEP-MF's network. A posteriori a few units move inputs far; a priori they hardly do, or few observations would be
// interpolated by the network alone, without any doubt left.
inline Prior SlopePrior() { return Prior::Student(0, 8, 3); }  // steps are steep
inline Prior BiasPrior() { return Prior::Normal(0, 4); }
inline Prior OutputWeightPrior() { return Prior::Normal(0, 0.03); }

inline constexpr int kMostHidden = 2;     // units of that network, at most,
inline constexpr int kPerWeight = 4;      // and with at least so many observations for each of its weights
inline constexpr int kNetworkStarts = 4;  // with a random network

// NARGP's other starts: levels apart, with the link's log amplitude at …; a link that turns quickly, with log l_f and the
// discrepancy's log amplitude less by ….
inline constexpr double kLogLinkApart = -4, kLogQuickerTurn = 1.5, kLogLessDiscrepancy = 2.3;

// How much work a stage with so many observations does: less than a fit of an MF-DGP, of which it is a part.
inline SearchSettings StageSettings(int64_t observations) {
  SearchSettings settings;
  settings.followed_starts = 8;
  settings.transitions = 48;
  settings.least_transitions = 4;
  settings.draws = 24;
  return settings.For(observations);
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_PRIORS_H_
