// The priors that regularise the maximum likelihood of the classic models, in standardised units (inputs in [0,1], outputs
// by level 0's mean and standard deviation). Those of amplitudes and lengthscales are logarithms.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_PRIORS_H_
#define FIDELIO_CORE_BASELINE_BASELINE_PRIORS_H_

#include <cmath>
#include <cstdlib>

#include "core/param/prior.h"

namespace fidelio {
inline double E(const char* n, double v) {
  const char* e = std::getenv(n);
  return e ? std::atof(e) : v;
}

inline constexpr double kNoiseFloor = 1e-8;  // variance
inline constexpr double kTie = 0.5;          // how far the lengthscales of upper levels lean on those of level 0

// Level 0. Many inputs are further apart: lengthscales grow with the root of their number.
inline Prior FirstLengthscalePrior(int dimension) {
  return Prior::InverseGamma(0.2 + 0.5 * std::log(dimension), 1.5, E("LS0SH", 0.5));
}
inline Prior FirstAmplitudePrior() {
  return E("V0ST", 0) > 0 ? Prior::Student(E("V0", 1), E("V0S", 2), E("V0ST", 0))
                          : Prior::Normal(E("V0", 1), E("V0S", 2));
}
inline Prior FirstMeanPrior() { return Prior::Normal(0, 1.5); }

// Every level: the logarithm of the noise's standard deviation.
inline Prior NoisePrior() { return Prior::Student(std::log(3e-3), 1.5, 3); }

// Upper levels: what a level adds to the one below.
inline Prior DeltaLengthscalePrior(int dimension) {
  return Prior::Student(E("LSD", 0.5) + 0.5 * std::log(dimension), E("LSDS", 0.6), 4);
}
inline Prior DeltaAmplitudePrior() { return Prior::Student(std::log(E("VD", 0.05)), E("VDS", 2.3), 4); }
inline Prior OffsetPrior() { return Prior::Normal(std::log(E("A", 0.1)), E("AS", 2.5)); }  // variance of the constant
inline Prior RhoPrior() { return Prior::Normal(1, E("RHS", 0.7)); }

// NARGP's link (ChainLayer): how it changes with x, relative to how it changes with f; its slope's variance; how far it is straight.
inline Prior LinkLengthscalePrior(int dimension) {
  return Prior::Normal(E("LR", 2.5) + 0.5 * std::log(dimension), E("LRS", 1));
}
inline Prior LinkAmplitudePrior() { return Prior::Normal(E("W", 0), E("WS", 1.5)); }
inline Prior LinkOutputLengthscalePrior() { return Prior::Normal(E("LF", 3), E("LFS", 1)); }

// DEEP-MF's network.
inline Prior SlopePrior() { return Prior::Student(0, E("NS", 8), 3); }  // steps are steep
inline Prior BiasPrior() { return Prior::Normal(0, E("NB", 4)); }
inline Prior OutputWeightPrior() { return Prior::Normal(0, E("NO", 0.3)); }

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_PRIORS_H_
