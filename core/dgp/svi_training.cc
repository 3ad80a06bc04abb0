#include "core/dgp/svi_training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status_macros.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kShares[] = {1.0 / 7, 4.0 / 7};  // where the second and the third phase begin
constexpr double kRates[] = {0.003, 0.001, 0.001};
constexpr double kLowerRoot = 1e-8, kShareOfVariance = 0.01, kLowerNoise = 1e-6;
constexpr double kLengthscale = 0.5, kDeltaLengthscale = 2, kLinkLengthscale = 3;  // of the width of the inputs
constexpr double kDelta = 4, kNonlinear = 0.01;                                    // other variances begin at 1

}  // namespace

SviTraining::SviTraining(std::shared_ptr<const SviModel> model, uint64_t seed, int threads)
    : model_(std::move(model)), lower_(model_->layers.size() > 1), elbo_(model_, seed, threads) {}

absl::StatusOr<SviState> SviTraining::Start(const std::vector<Vector>& warm_theta,
                                            const std::vector<double>& warm_noise) {
  SviState state;
  state.parameters.setZero(model_->size);
  Vector& p = state.parameters;
  const int layers = static_cast<int>(model_->layers.size());
  for (int t = 0; t < layers; ++t) {
    const SviModel::Layer& layer = model_->layers[t];
    const Index m = layer.z.rows();
    const bool top = t + 1 == layers;
    const auto y = model_->data.y.segment(model_->data.offset[t], model_->data.count(t)).array();
    const double spread = y.size() > 1 ? std::max(1e-6, (y - y.mean()).square().mean()) : 1;
    auto theta = p.segment(layer.theta, layer.shape.size());  // variances and k_f's lengthscale 1
    const int d = layer.shape.dimension;
    theta.segment(layer.shape.delta(), d).setConstant(std::log(t > 0 ? kDeltaLengthscale : kLengthscale));
    if (layer.shape.linked) {
      theta.segment(layer.shape.rho(), d).setConstant(std::log(kLinkLengthscale));
      theta[layer.shape.delta_variance()] = std::log(kDelta);
      theta[layer.shape.nonlinear()] = std::log(kNonlinear);
    }
    // Where layer 1's inducing variables are all there is to know of level 1, hardly any.
    const bool complete = t == 0 && !top && m >= model_->data.count(0);
    if (layer.noise >= 0) p[layer.noise] = std::log(complete ? kLowerNoise : kShareOfVariance * spread);
    p.segment(layer.mean, m) = layer.zy;
    if (!warm_theta.empty()) {
      if (warm_theta[t].size() != theta.size()) return absl::DataLossError("warm start of another shape");
      theta = warm_theta[t];
      if (layer.noise >= 0 && warm_noise[t] > 0) p[layer.noise] = std::log(warm_noise[t]);
    }
    Eigen::Map<Matrix>(p.data() + layer.root, m, m)
        .diagonal()
        .setConstant(top ? kShareOfVariance * spread : kLowerRoot);
  }
  for (int t = lower_ ? 1 : 0; t < layers; ++t) FIDELIO_RETURN_IF_ERROR(elbo_.WhitenMean(t, &p));
  // A root that is the small part of L.
  FIDELIO_RETURN_IF_ERROR(
      elbo_.Convert({.inducing_mean = lower_, .inducing_root = false}, SpaceOf(0), &state.parameters));
  return state;
}

void SviTraining::FixParameters(int phase, Vector& gradient) const {
  const int layers = static_cast<int>(model_->layers.size());
  for (int t = 0; t < layers; ++t) {
    const SviModel::Layer& layer = model_->layers[t];
    const Index m = layer.z.rows();
    if (phase < 2 && t == 0 && layers > 1) gradient.segment(layer.mean, m).setZero();
    if (phase > 0) continue;
    gradient.segment(layer.root, m * m).setZero();
    if (layer.shape.linked) gradient.segment(layer.theta, layer.shape.size()).setZero();
    if (layer.noise >= 0) gradient[layer.noise] = 0;
  }
}

absl::Status SviTraining::Step(double fraction, SviState* state) {
  constexpr double kMemory = 0.99;  // of the running mean
  const int phase = fraction < kShares[0] ? 0 : fraction < kShares[1] ? 1 : 2;
  if (phase != state->phase) {
    FIDELIO_RETURN_IF_ERROR(elbo_.Convert(SpaceOf(state->phase), SpaceOf(phase), &state->parameters));
    state->phase = phase;
    state->adam = AdamState();
  }
  FIDELIO_ASSIGN_OR_RETURN(const double bound,
                           elbo_.Evaluate(state->parameters, SpaceOf(phase), state->step, &gradient_));
  FixParameters(phase, gradient_);
  StepAdam(kRates[phase], gradient_, &state->adam, &state->parameters);
  state->bound = state->step == 0 ? bound : kMemory * state->bound + (1 - kMemory) * bound;
  ++state->step;
  return absl::OkStatus();
}

}  // namespace fidelio
