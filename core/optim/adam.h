// Adam (Kingma & Ba 2015): ascent by noisy gradients, each parameter at its own scale.
//
//   m ← β1 m + (1−β1) g,   v ← β2 v + (1−β2) g²,   x ← x + rate·m̂/(√v̂ + ε)       β1 = .9, β2 = .999, ε = 1e-8
//
// The state is plain numbers: written down and read back, it goes on to the same bits.
#ifndef FIDELIO_CORE_OPTIM_ADAM_H_
#define FIDELIO_CORE_OPTIM_ADAM_H_

#include <cstdint>

#include "core/base/types.h"

namespace fidelio {

struct AdamState {
  int64_t step = 0;
  Vector first, second;  // m and v; empty before the first step
};

// One step up along `gradient`. Elements whose gradient is 0, and always was, stay.
void StepAdam(double rate, const Vector& gradient, AdamState* state, Vector* x);

}  // namespace fidelio

#endif  // FIDELIO_CORE_OPTIM_ADAM_H_
