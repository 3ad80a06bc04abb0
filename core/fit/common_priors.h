// Priors that several models share, in standardised units: inputs in [0,1], outputs by one affine map per model. Those of amplitudes,
// lengthscales and noise are of logarithms.
//
// Chosen by hand, with the rest of MF_DGP's (core/dgp/moments/recipe.h), on the tuning set that `fidelio-bench problems` prints. The
// classic models took them over.
#ifndef FIDELIO_CORE_FIT_COMMON_PRIORS_H_
#define FIDELIO_CORE_FIT_COMMON_PRIORS_H_

#include <cmath>

#include "core/param/prior.h"

namespace fidelio {

inline constexpr double kNoiseFloor = 1e-8;  // is added to every learned noise variance: keeps covariances definite
inline constexpr double kTie = 0.5;          // how far the lengthscales of upper levels lean on those of level 0

// With d inputs points are further apart: lengthscales grow with √d.
inline double LogRoot(int dimension) { return 0.5 * std::log(dimension); }
inline Prior ShiftedBy(double shift, Prior prior) {
  prior.centre += shift;
  return prior;
}

// Level 0. The lengthscales' is steep below its centre and nearly flat above; the amplitude's is wide, so that amplitudes can grow with
// lengthscales, as polynomials need it. The mean of standardised outputs is near 0.
inline Prior FirstLengthscalePrior(int dimension) {
  return ShiftedBy(LogRoot(dimension), Prior::InverseGamma(0.2, 1.5, 0.5));
}
inline Prior FirstAmplitudePrior() { return Prior::Normal(1, 2); }
inline Prior FirstMeanPrior() { return Prior::Normal(0, 1.5); }

// The noise's standard deviation: small, with tails that reach noisy simulators.
inline Prior NoisePrior() { return Prior::Student(std::log(3e-3), 1.5, 3); }

// Upper levels: ρ, the lengthscale of k_f, the discrepancy's lengthscales, and the variance of its constant.
inline Prior RhoPrior() { return Prior::Normal(1, 0.7); }
inline Prior NonlinearLengthscalePrior() { return Prior::Normal(0, 0.7); }
inline Prior DeltaLengthscalePrior(int dimension) { return ShiftedBy(LogRoot(dimension), Prior::Student(0.5, 0.6, 4)); }
inline Prior OffsetPrior() { return Prior::Normal(std::log(0.1), 2.5); }

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_COMMON_PRIORS_H_
