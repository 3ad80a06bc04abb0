// CheckGradient: compares the gradient of an Objective with differences of its value.
//
//   d_i = [ 8(f(x+h e_i) − f(x−h e_i)) − (f(x+2h e_i) − f(x−2h e_i)) ] / 12h          error O(h⁴)
//   error_i = |g_i − d_i| / max(|g_i|, |d_i|, 1e-3·max_j|d_j|)
//
// The floor in the denominator keeps rounding in the value from counting against components that hardly matter.
#ifndef FIDELIO_TESTS_SUPPORT_GRADIENT_CHECK_H_
#define FIDELIO_TESTS_SUPPORT_GRADIENT_CHECK_H_

#include "core/base/types.h"
#include "core/optim/objective.h"

namespace fidelio {

struct GradientCheck {
  double max_relative_error = 0;  // +∞ where the objective can't be evaluated at x or near it, or is not finite there
  int worst = -1;                 // the component with that error; −1 when there is none or x itself was refused
};

GradientCheck CheckGradient(Objective& objective, const Vector& x, double step);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_GRADIENT_CHECK_H_
