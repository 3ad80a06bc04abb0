// The priors of the classic models' hyperparameters, in standardised units (inputs in [0,1], outputs
// by level 0's mean and standard deviation). Those of amplitudes and lengthscales are logarithms.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_PRIORS_H_
#define FIDELIO_CORE_BASELINE_BASELINE_PRIORS_H_

#include <cmath>

#include "core/param/prior.h"

namespace fidelio {

inline constexpr double kNoiseFloor = 1e-8;  // variance
inline constexpr double kTie = 0.5;          // how far the lengthscales of upper levels lean on those of level 0

// Level 0. Many inputs are further apart: lengthscales grow with the root of their number.
inline Prior FirstLengthscalePrior(int dimension) {
  return Prior::InverseGamma(0.2 + 0.5 * std::log(dimension), 1.5, 0.5);
}
inline Prior FirstAmplitudePrior() { return Prior::Normal(1, 2); }
inline Prior FirstMeanPrior() { return Prior::Normal(0, 1.5); }

// Every level: the logarithm of the noise's standard deviation.
inline Prior NoisePrior() { return Prior::Student(std::log(3e-3), 1.5, 3); }

// Upper levels: what a level adds to the one below.
inline Prior DeltaLengthscalePrior(int dimension) { return Prior::Student(0.5 + 0.5 * std::log(dimension), 0.6, 4); }
inline Prior DeltaAmplitudePrior() { return Prior::Student(std::log(0.01), 4.5, 4); }
inline Prior OffsetPrior() { return Prior::Normal(std::log(0.1), 2.5); }  // variance of the constant
inline Prior RhoPrior() { return Prior::Normal(1, 0.7); }

// NARGP's link (ChainLayer): how it changes with x, relative to how it changes with f; its slope's variance; how far it is straight.
inline Prior LinkLengthscalePrior(int dimension) { return Prior::Normal(2.5 + 0.5 * std::log(dimension), 1); }
inline Prior LinkAmplitudePrior() { return Prior::Normal(0, 1.5); }
inline Prior LinkOutputLengthscalePrior() { return Prior::Normal(3, 1); }

// DEEP-MF's network. A posteriori a few units move inputs far; a priori they hardly do, or few observations would be
// interpolated by the network alone, without any doubt left.
inline Prior SlopePrior() { return Prior::Student(0, 8, 3); }  // steps are steep
inline Prior BiasPrior() { return Prior::Normal(0, 4); }
inline Prior OutputWeightPrior() { return Prior::Normal(0, 0.03); }

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_PRIORS_H_
