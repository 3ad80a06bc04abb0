#include "core/dgp/sparse/variational_elbo.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/normal.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/psi_statistics.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kLeastRootVariance = 1e-14;  // under a square root

}  // namespace

VariationalElbo::VariationalElbo(std::shared_ptr<const VariationalModel> model, double jitter, int threads)
    : model_(std::move(model)), jitter_(jitter), threads_(threads), states_(model_->layers.size()) {}

LayerNodes VariationalElbo::Nodes(int t, const State& state) const {
  return {.x = &model_->data.x, .point = &model_->plan.layers[t].point, .f = &state.f};
}

absl::Status VariationalElbo::Forward(int t, const Vector& parameters) {
  const VariationalModel::Layer& layer = model_->layers[t];
  const NodeLayer& nodes = model_->plan.layers[t];
  const ScaledData& data = model_->data;
  State& s = states_[t];
  const auto theta = parameters.segment(layer.theta, layer.shape.size());
  const Index n = nodes.size();
  if (t > 0) {
    const State& below = states_[t - 1];
    s.f.resize(n);
    for (Index p = 0; p < n; ++p) {
      const int parent = nodes.parent[p];
      s.f[p] = below.sites.mean()[parent] +
               nodes.xi[p] * std::sqrt(std::max(below.sites.variance()[parent], kLeastRootVariance));
    }
    s.zf.resize(layer.z.rows());
    for (Index j = 0; j < s.zf.size(); ++j) {
      s.zf[j] = below.sites.mean()[model_->plan.layers[t - 1].centre[layer.inducing[j]]];
    }
  }
  const LayerNodes at = Nodes(t, s);
  s.inducing_kernel.Forward(layer.shape, theta, layer.z, s.zf, {.x = &layer.z, .point = nullptr, .f = &s.zf}, s.k_zz);
  FIDELIO_RETURN_IF_ERROR(s.whitening.Factorise(s.k_zz, jitter_, threads_, absl::StrFormat("K_ZZ of layer %d", t)));
  max_jitter_ = std::max(max_jitter_, s.whitening.extra_jitter());
  s.node_kernel.Forward(layer.shape, theta, layer.z, s.zf, at, s.k_zp);
  s.whitening.Apply(s.k_zp, s.a);
  s.diagonal = LayerDiagonal(layer.shape, theta, at);

  const double learned = layer.noise >= 0 ? std::exp(parameters[layer.noise]) : 0;
  const int first_upper = data.offset[t + 1];
  s.precision.resize(n);
  s.target.resize(n);
  for (Index p = 0; p < n; ++p) {
    const int i = nodes.point[p];
    if (i < first_upper) {
      s.precision[p] = nodes.weight[p] / (learned + data.noise[i] + kVariationalNoiseFloor);
      s.target[p] = data.y[i];
    } else {
      s.precision[p] = nodes.weight[p] * std::exp(parameters[layer.site_precision + i - first_upper]);
      s.target[p] = parameters[layer.site_target + i - first_upper];
    }
  }
  return s.sites.Forward(s.a, s.diagonal, s.precision, s.target, threads_,
                         absl::StrFormat("posterior precision of layer %d", t));
}

double VariationalElbo::LogLikelihood(int t, const Vector& parameters, Vector* gradient) {
  const VariationalModel::Layer& layer = model_->layers[t];
  const NodeLayer& nodes = model_->plan.layers[t];
  const ScaledData& data = model_->data;
  State& s = states_[t];
  const double learned = layer.noise >= 0 ? std::exp(parameters[layer.noise]) : 0;
  double sum = 0, noise_bar = 0;
  for (Index p = 0; p < nodes.size(); ++p) {
    const int i = nodes.point[p];
    if (i >= data.offset[t + 1]) continue;
    const double w = nodes.weight[p], noise = learned + data.noise[i] + kVariationalNoiseFloor;
    const double residual = data.y[i] - s.sites.mean()[p];
    const double square = residual * residual + s.sites.variance()[p];
    sum -= 0.5 * w * (kLogTwoPi + std::log(noise) + square / noise);
    if (gradient == nullptr) continue;
    s.mean_bar[p] += w * residual / noise;
    s.variance_bar[p] -= 0.5 * w / noise;
    noise_bar -= 0.5 * w * (1 / noise - square / (noise * noise));
  }
  if (gradient != nullptr && layer.noise >= 0) (*gradient)[layer.noise] += learned * noise_bar;
  return sum;
}

absl::StatusOr<double> VariationalElbo::Evaluate(const Vector& parameters, Vector* gradient) {
  const int layers = static_cast<int>(states_.size());
  double value = 0;
  if (gradient != nullptr) gradient->setZero(model_->size);
  for (int t = 0; t < layers; ++t) {
    FIDELIO_RETURN_IF_ERROR(Forward(t, parameters));
    State& s = states_[t];
    s.upper_mean_bar.setZero(s.a.cols());
    s.upper_variance_bar.setZero(s.a.cols());
    s.mean_bar.setZero(s.a.cols());
    s.variance_bar.setZero(s.a.cols());
    value += LogLikelihood(t, parameters, gradient) - s.sites.divergence();
  }
  if (gradient != nullptr) {
    for (int t = layers; t-- > 0;) Reverse(t, parameters, *gradient);
  }
  return value;
}

void VariationalElbo::Reverse(int t, const Vector& parameters, Vector& gradient) {
  const VariationalModel::Layer& layer = model_->layers[t];
  const NodeLayer& nodes = model_->plan.layers[t];
  const ScaledData& data = model_->data;
  State& s = states_[t];
  const auto theta = parameters.segment(layer.theta, layer.shape.size());
  auto theta_bar = gradient.segment(layer.theta, layer.shape.size());
  s.mean_bar += s.upper_mean_bar;
  s.variance_bar += s.upper_variance_bar;

  Vector precision_bar, target_bar;
  s.sites.Reverse(s.mean_bar, s.variance_bar, s.a_bar, precision_bar, target_bar);
  const int first_upper = data.offset[t + 1];
  const double learned = layer.noise >= 0 ? std::exp(parameters[layer.noise]) : 0;
  for (Index p = 0; p < nodes.size(); ++p) {
    const int i = nodes.point[p];
    if (i >= first_upper) {
      gradient[layer.site_precision + i - first_upper] += s.precision[p] * precision_bar[p];
      gradient[layer.site_target + i - first_upper] += target_bar[p];
    } else if (layer.noise >= 0) {
      const double noise = learned + data.noise[i] + kVariationalNoiseFloor;
      gradient[layer.noise] -= learned * s.precision[p] / noise * precision_bar[p];
    }
  }

  Vector f_bar = Vector::Zero(t > 0 ? nodes.size() : 0), zf_bar = Vector::Zero(t > 0 ? s.zf.size() : 0);
  ReverseLayerDiagonal(layer.shape, theta, Nodes(t, s), s.variance_bar, theta_bar, f_bar);
  s.whitening.Reverse(s.a, s.a_bar, s.k_bar);
  s.node_kernel.Reverse(s.k_bar, theta_bar, zf_bar, f_bar);
  s.whitening.Finish(s.k_bar);
  Vector column_bar = Vector::Zero(zf_bar.size());
  s.inducing_kernel.Reverse(s.k_bar, theta_bar, zf_bar, column_bar);
  zf_bar += column_bar;
  if (t == 0) return;

  State& below = states_[t - 1];
  for (Index p = 0; p < nodes.size(); ++p) {
    const int parent = nodes.parent[p];
    below.upper_mean_bar[parent] += f_bar[p];
    const double variance = below.sites.variance()[parent];
    if (variance > kLeastRootVariance)
      below.upper_variance_bar[parent] += 0.5 * f_bar[p] * nodes.xi[p] / std::sqrt(variance);
  }
  for (Index j = 0; j < zf_bar.size(); ++j) {
    below.upper_mean_bar[model_->plan.layers[t - 1].centre[layer.inducing[j]]] += zf_bar[j];
  }
}

VariationalElbo::SecondLevel VariationalElbo::SecondLevelLikelihood(const Vector& parameters) {
  const VariationalModel::Layer& layer = model_->layers[1];
  const ScaledData& data = model_->data;
  const State& below = states_[0];
  State& s = states_[1];
  const Index first = data.offset[1], n = data.count(1);
  const double learned = layer.noise >= 0 ? std::exp(parameters[layer.noise]) : 0;
  const Vector noise = data.noise.segment(first, n).array() + learned + kVariationalNoiseFloor;
  const Vector y = data.y.segment(first, n);
  // Layer 1 has one node per point, in the same order.
  const PsiStatistics psi(layer.shape, parameters.segment(layer.theta, layer.shape.size()), layer.z, s.zf,
                          data.x.middleRows(first, n), below.sites.mean().segment(first, n),
                          below.sites.variance().segment(first, n), noise.cwiseInverse());
  // E[(y − mean)² + var] with mean = kᵀα and var = k(z*, z*) − kᵀ(L⁻ᵀL⁻¹ − L⁻ᵀB⁻¹L⁻¹)k.
  const Matrix& whiten = s.whitening.inverse_factor();
  const Vector alpha = whiten.transpose() * s.sites.m();
  const Matrix half = s.sites.inverse_factor() * whiten;
  const Matrix inside = alpha * alpha.transpose() - whiten.transpose() * whiten + half.transpose() * half;
  const double squares = (y.array().square() / noise.array()).sum() -
                         2 * (y.cwiseQuotient(noise)).dot(psi.one.transpose() * alpha) +
                         (psi.zero.array() / noise.array()).sum() + inside.cwiseProduct(psi.two).sum();
  SecondLevel result;
  result.by_nodes = LogLikelihood(1, parameters, nullptr);
  result.closed_form = -0.5 * (squares + noise.array().log().sum() + static_cast<double>(n) * kLogTwoPi);
  return result;
}

void VariationalElbo::MoveSites(double step, Vector* parameters) const {
  // q's optimum has, at a node with ∂F/∂mean and ∂F/∂var of the terms above, the site with precision −2 ∂F/∂var and
  // precision × target = ∂F/∂mean − 2 ∂F/∂var·mean. A point's nodes share one: the sum over them.
  constexpr double kLeastPrecision = 1e-6;
  for (size_t t = 0; t < states_.size(); ++t) {
    const VariationalModel::Layer& layer = model_->layers[t];
    const NodeLayer& nodes = model_->plan.layers[t];
    const State& s = states_[t];
    const int count = model_->upper(static_cast<int>(t)), first = model_->data.offset[t + 1];
    Vector precision = Vector::Zero(count), product = Vector::Zero(count);
    for (Index p = 0; p < nodes.size(); ++p) {
      const int i = nodes.point[p] - first;
      if (i < 0) continue;
      precision[i] -= 2 * s.upper_variance_bar[p];
      product[i] += s.upper_mean_bar[p] - 2 * s.upper_variance_bar[p] * s.sites.mean()[p];
    }
    for (int i = 0; i < count; ++i) {
      double& log_precision = (*parameters)[layer.site_precision + i];
      double& target = (*parameters)[layer.site_target + i];
      const double old = std::exp(log_precision);
      const double moved = std::max((1 - step) * old + step * precision[i], kLeastPrecision);
      target = ((1 - step) * old * target + step * product[i]) / moved;
      log_precision = std::log(moved);
    }
  }
}

}  // namespace fidelio
