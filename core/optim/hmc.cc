#include "core/optim/hmc.h"

#include <algorithm>
#include <cmath>

#include "core/base/random.h"

namespace fidelio {
namespace {

bool EvaluateAt(Objective& objective, const HmcSpace& space, const Vector& q, double* value, Vector* gradient) {
  const Vector x = space.origin + space.basis * q;
  Vector x_gradient;
  if (!objective.Evaluate(x, value, &x_gradient)) return false;
  gradient->noalias() = space.basis.transpose() * x_gradient;
  return true;
}

}  // namespace

bool StartHmc(Objective& objective, const HmcSpace& space, const Vector& q, HmcState* state) {
  state->q = q;
  return EvaluateAt(objective, space, q, &state->value, &state->gradient);
}

int StepHmc(Objective& objective, const HmcSpace& space, const HmcOptions& options, uint64_t seed, uint32_t chain,
            HmcState* state) {
  Random random(seed, chain, static_cast<uint32_t>(state->iteration));
  const double step = std::exp(state->log_step) * (0.8 + 0.4 * random.Uniform());
  const double threshold = random.Uniform();
  Vector p = random.NormalVector(static_cast<int>(state->q.size()));
  const double start_energy = state->value + 0.5 * p.squaredNorm();
  Vector q = state->q, gradient = state->gradient;
  double value = state->value;
  bool ok = true;
  int evaluations = 0;
  for (int i = 0; i < options.leapfrogs && ok; ++i) {
    p -= 0.5 * step * gradient;
    q += step * p;
    ok = EvaluateAt(objective, space, q, &value, &gradient);
    ++evaluations;
    // A trajectory that has climbed this far is never accepted: stop paying for it.
    if (ok && value - start_energy > 1000) ok = false;
    if (ok) p -= 0.5 * step * gradient;
  }
  const double change = start_energy - value - 0.5 * p.squaredNorm();
  const double acceptance = ok && std::isfinite(change) ? std::min(1.0, std::exp(change)) : 0.0;
  if (threshold < acceptance) {
    state->q = q;
    state->value = value;
    state->gradient = gradient;
  }
  if (state->iteration < options.warmup) {
    state->log_step += 0.3 / std::sqrt(1 + 0.2 * state->iteration) * (acceptance - options.target_acceptance);
  } else {
    state->acceptance_sum += acceptance;
  }
  ++state->iteration;
  return evaluations;
}

}  // namespace fidelio
