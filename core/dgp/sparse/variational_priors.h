// The priors of VARIATIONAL's hyperparameters, and all other constants of its search, but for those that other models share
// (core/fit/common_priors.h, core/fit/search_settings.h). In standardised units; of logarithms, the noise's of its variance.
//
// Weak normal priors, which keep hyperparameters that the data say nothing about where they make sense. Chosen by hand:
// `fidelio-bench table1 --methods mf_dgp_variational` and `fidelio-bench calibration` show what a change does.
#ifndef FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_PRIORS_H_
#define FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_PRIORS_H_

#include <cmath>
#include <cstdint>

#include "core/fit/common_priors.h"
#include "core/fit/search_settings.h"

namespace fidelio::variational {

// A change of these makes saved running fits unusable: raise this with it.
inline constexpr uint32_t kRecipe = 1;

inline constexpr int kMostInducing = 200;  // per layer, where the options name no number

// Layer 1. Lengthscales of all layers grow with √d (LogRoot).
inline Prior FirstLengthscale(int dimension) { return Prior::Normal(LogRoot(dimension), 1); }
inline Prior FirstVariance() { return Prior::Normal(1, 2); }

// The layers above: κ_ρ, s2, vf, l_f, κ_δ, vd.
inline Prior RhoLengthscale(int dimension) { return Prior::Normal(LogRoot(dimension) + 1.2, 0.7); }
inline Prior Linear() { return Prior::Normal(0, 1); }
inline Prior Nonlinear() { return Prior::Normal(std::log(1e-2), 2); }
inline Prior NonlinearLengthscale() { return Prior::Normal(0.3, 0.7); }
inline Prior DeltaLengthscale(int dimension) { return Prior::Normal(LogRoot(dimension) + 0.3, 0.7); }
inline Prior DeltaVariance() { return Prior::Normal(std::log(0.05), 2); }

inline Prior NoiseVariance() { return Prior::Normal(std::log(1e-5), 3); }

// Sites (log precisions and targets) have no prior: where they begin, and the units in which L-BFGS moves them.
inline constexpr double kNoSite = -25;  // of a log precision: the site says nothing
inline constexpr double kSitePrecisionScale = 1, kSiteTargetScale = 0.3;

// The start whose link bends: log vf, log l_f, and how much shorter κ_ρ's lengthscales are. Short lengthscales of κ_δ, the third
// start, show waves that look like noise from afar.
inline const double kLogBentLink = std::log(0.5);
inline constexpr double kLogBentLengthscale = -0.5, kLogShorterRho = 0.7;

inline constexpr double kLargestParameter = 50;  // beyond e^50 lies nothing sensible
inline constexpr double kEnough = 1e-3;          // a round that gains less is a start's last

}  // namespace fidelio::variational

#endif  // FIDELIO_CORE_DGP_SPARSE_VARIATIONAL_PRIORS_H_
