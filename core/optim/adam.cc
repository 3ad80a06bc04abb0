#include "core/optim/adam.h"

#include <cmath>

namespace fidelio {

void StepAdam(double rate, const Vector& gradient, AdamState* state, Vector* x) {
  constexpr double kFirst = 0.9, kSecond = 0.999, kEpsilon = 1e-8;
  if (state->first.size() != x->size()) {
    state->first.setZero(x->size());
    state->second.setZero(x->size());
  }
  ++state->step;
  state->first = kFirst * state->first + (1 - kFirst) * gradient;
  state->second = kSecond * state->second + (1 - kSecond) * gradient.cwiseAbs2();
  const double steps = static_cast<double>(state->step);
  const double first = 1 / (1 - std::pow(kFirst, steps)), second = 1 / (1 - std::pow(kSecond, steps));
  x->array() += rate * first * state->first.array() / ((second * state->second.array()).sqrt() + kEpsilon);
}

}  // namespace fidelio
