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

// Constants of dual averaging, as Hoffman & Gelman chose them.
constexpr double kGamma = 0.05, kOffset = 10, kForget = 0.75;
// The iterates are drawn towards twice the step that suits a Gaussian in some ten dimensions: a long step costs less to
// try.
constexpr double kCentre = -0.35;

// One step of dual averaging; the warm-up's last one fixes the step size.
void AdaptStep(const HmcOptions& options, double acceptance, HmcState* state) {
  const double t = state->iteration + 1;
  state->mean_error += (options.target_acceptance - acceptance - state->mean_error) / (t + kOffset);
  state->log_step = kCentre - std::sqrt(t) / kGamma * state->mean_error;
  state->mean_log_step += std::pow(t, -kForget) * (state->log_step - state->mean_log_step);
  if (state->iteration + 1 == options.warmup) state->log_step = state->mean_log_step;
}

}  // namespace

bool StartHmc(Objective& objective, const HmcSpace& space, const Vector& q, HmcState* state) {
  state->q = q;
  return EvaluateAt(objective, space, q, &state->value, &state->gradient);
}

int StepHmc(Objective& objective, const HmcSpace& space, const HmcOptions& options, uint64_t seed, uint32_t stream,
            HmcState* state) {
  Random random(seed, stream, static_cast<uint32_t>(state->iteration));
  const double step = std::exp(state->log_step) * (0.8 + 0.4 * random.Uniform());
  const double threshold = random.Uniform();
  Vector p = random.NormalVector(static_cast<int>(state->q.size()));
  const double start_energy = state->value + 0.5 * p.squaredNorm();
  Vector q = state->q, gradient = state->gradient;
  double value = state->value;
  bool ok = true;
  int evaluations = 0;
  const int leapfrogs = static_cast<int>(
      std::clamp(std::ceil(options.length / std::exp(state->log_step)), 1.0, static_cast<double>(options.leapfrogs)));
  for (int i = 0; i < leapfrogs && ok; ++i) {
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
    AdaptStep(options, acceptance, state);
  } else {
    state->acceptance_sum += acceptance;
  }
  ++state->iteration;
  return evaluations;
}

}  // namespace fidelio
