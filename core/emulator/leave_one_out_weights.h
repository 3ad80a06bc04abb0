// Weights of a mixture's Gaussians given all data but one observation y: ∝ weight/p(y), truncated importance sampling (Ionides
// 2008), where no p is smaller than its (weighted harmonic) mean divided by √S.
#ifndef FIDELIO_CORE_EMULATOR_LEAVE_ONE_OUT_WEIGHTS_H_
#define FIDELIO_CORE_EMULATOR_LEAVE_ONE_OUT_WEIGHTS_H_

#include "core/base/types.h"

namespace fidelio {

// S values each.
Vector WeightsWithout(const Vector& weight, const Vector& log_density);

// The same of Gaussians.
Vector WeightsWithout(double y, const Vector& weight, const Vector& mean, const Vector& variance);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_LEAVE_ONE_OUT_WEIGHTS_H_
