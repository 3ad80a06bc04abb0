// StackingWeights: how to average models by what each says about observations that it has not seen,
//
//   w = argmax Σ_i log Σ_k w_k p_k(y_i | all others),   w ≥ 0, Σ w = 1
//
// (Yao, Vehtari, Simpson & Gelman 2018). Unlike weights by evidence, which nearly always leave one model alone once there are
// hundreds of observations, these mix models that are good at different places.
#ifndef FIDELIO_CORE_EMULATOR_STACKING_WEIGHTS_H_
#define FIDELIO_CORE_EMULATOR_STACKING_WEIGHTS_H_

#include "core/base/types.h"

namespace fidelio {

// log_density: K×n, log p_k(y_i | all others); −∞ is allowed. The problem is concave; EM steps from equal weights converge to
// its maximum. Observations at which every model has density 0 are ignored.
Vector StackingWeights(const Matrix& log_density);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_STACKING_WEIGHTS_H_
