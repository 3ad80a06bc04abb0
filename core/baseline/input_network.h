// InputNetwork: a small network that moves inputs before a kernel sees them,
//
//   h(x) = x + V tanh(W (x − ½) + b)          W: H×d,  b: H,  V: d×H
//
// Limits: V = 0 gives h(x) = x; a steep unit tears the input space apart along a hyperplane, so that a smooth kernel of h(x)
// can have a step there. θ holds W, b, V, in this order, column by column. Stateless; safe to share.
#ifndef FIDELIO_CORE_BASELINE_INPUT_NETWORK_H_
#define FIDELIO_CORE_BASELINE_INPUT_NETWORK_H_

#include "core/base/types.h"

namespace fidelio {

struct InputNetwork {
  int dimension = 1;
  int hidden = 0;  // 0: h(x) = x

  int size() const { return hidden * (2 * dimension + 1); }

  // h of the rows of x (n×d). `units`, where given, receives tanh(…), n×H, for Reverse.
  Matrix Forward(const ConstVectorRef& theta, const Matrix& x, Matrix* units) const;

  // Given ∂F/∂h (n×d): adds ∂F/∂θ to `gradient` (not where null) and returns ∂F/∂x.
  Matrix Reverse(const ConstVectorRef& theta, const Matrix& x, const Matrix& units, const Matrix& h_bar,
                 Vector* gradient) const;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_INPUT_NETWORK_H_
