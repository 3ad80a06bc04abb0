// InputWarp: a monotone map of [0,1] onto itself, one parameter per dimension,
//
//   w(x; c) = (e^{cx} − 1) / (e^c − 1)
//
// Limits: c → 0 gives w(x) = x; w(0) = 0 and w(1) = 1 for every c; c > 0 stretches the upper end, c < 0 the lower.
// Near c = 0 a series replaces the quotient. Defined for every real x (extrapolation included).
#ifndef FIDELIO_CORE_KERNEL_INPUT_WARP_H_
#define FIDELIO_CORE_KERNEL_INPUT_WARP_H_

#include "core/base/types.h"

namespace fidelio {

struct Warped {
  double value;        // w
  double slope;        // ∂w/∂x
  double sensitivity;  // ∂w/∂c
};

Warped WarpInput(double x, double c);

// Replaces every x by w(x; c).
void WarpInputs(double c, Eigen::Ref<Vector> x);

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_INPUT_WARP_H_
