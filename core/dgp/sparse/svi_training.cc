#include "core/dgp/sparse/svi_training.h"

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
constexpr double kLengthscale = 0.2;  // of the width of the inputs; variances and k_f's lengthscale begin at 1

}  // namespace

SviTraining::SviTraining(std::shared_ptr<const SviModel> model, uint64_t seed, int threads)
    : model_(std::move(model)), elbo_(model_, seed, threads) {}

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
    const int d = layer.shape.dimension;
    Vector theta = Vector::Zero(layer.shape.size());
    theta.segment(layer.shape.delta(), d).setConstant(std::log(kLengthscale));
    if (layer.shape.linked) theta.segment(layer.shape.rho(), d).setConstant(std::log(kLengthscale));
    double noise = top ? kShareOfVariance * spread : kLowerNoise;
    if (!warm_theta.empty()) {
      if (warm_theta[t].size() != theta.size()) return absl::DataLossError("warm start of another shape");
      theta = warm_theta[t];
      if (warm_noise[t] > 0) noise = warm_noise[t];
    }
    layer.Set(theta, noise, p);
    if (t == 0 || !top) p.segment(layer.mean, m) = layer.zy;
    FIDELIO_ASSIGN_OR_RETURN(const Matrix prior_root, elbo_.Factor(t, p));
    Eigen::Map<Matrix>(p.data() + layer.root, m, m) = (top ? kShareOfVariance * spread : kLowerRoot) * prior_root;
  }
  return state;
}

void SviTraining::FixParameters(int phase, Vector& gradient) const {
  const int layers = static_cast<int>(model_->layers.size());
  for (int t = 0; t < layers; ++t) {
    const SviModel::Layer& layer = model_->layers[t];
    const Index m = layer.z.rows();
    const bool top = t + 1 == layers;
    if (phase < 2 && t > 0 && !top) gradient.segment(layer.mean, m).setZero();
    if (phase > 0) continue;
    gradient.segment(layer.root, m * m).setZero();
    if (top && layer.noise >= 0) gradient[layer.noise] = 0;
  }
}

absl::Status SviTraining::Step(double fraction, SviState* state) {
  constexpr double kMemory = 0.99;  // of the running mean
  const int phase = fraction < kShares[0] ? 0 : fraction < kShares[1] ? 1 : 2;
  if (phase != state->phase) {
    state->phase = phase;
    state->adam = AdamState();
  }
  FIDELIO_ASSIGN_OR_RETURN(const double bound, elbo_.Evaluate(state->parameters, state->step, &gradient_));
  FixParameters(phase, gradient_);
  StepAdam(kRates[phase], gradient_, &state->adam, &state->parameters);
  state->bound = state->step == 0 ? bound : kMemory * state->bound + (1 - kMemory) * bound;
  ++state->step;
  return absl::OkStatus();
}

}  // namespace fidelio
