// Reweigh: draws of a posterior, given more data.
//
// weights·exp(power·log_factors), summing to 1, where log_factors are the logarithms of what the new data's likelihood is under
// each draw. Draws of the posterior before are few where the posterior after lies: power is 1, or the one that leaves a tenth
// of their effective number, so that no draw is alone.
#ifndef FIDELIO_CORE_EMULATOR_REWEIGH_H_
#define FIDELIO_CORE_EMULATOR_REWEIGH_H_

#include "core/base/types.h"

namespace fidelio {

// weights ≥ 0 with a sum above 0.
Vector Reweigh(const Vector& weights, const Vector& log_factors);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_REWEIGH_H_
