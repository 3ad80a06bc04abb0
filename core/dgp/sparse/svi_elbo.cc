#include "core/dgp/sparse/svi_elbo.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/normal.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/variational_model.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kSampleJitter = 1e-6;

Eigen::Map<const Vector> MeanOf(const SviModel::Layer& layer, const Vector& parameters) {
  return {parameters.data() + layer.mean, layer.z.rows()};
}

Eigen::Map<const Matrix> RootOf(const SviModel::Layer& layer, const Vector& parameters) {
  return {parameters.data() + layer.root, layer.z.rows(), layer.z.rows()};
}

}  // namespace

SviElbo::SviElbo(std::shared_ptr<const SviModel> model, uint64_t seed, int threads)
    : model_(std::move(model)), seed_(seed), threads_(threads), states_(model_->layers.size()) {
  const int layers = static_cast<int>(states_.size()), samples = model_->settings.samples;
  first_.push_back(0);
  for (int t = 0; t < layers; ++t) first_.push_back(first_.back() + model_->batch(t));
  const int points = first_.back();
  x_.resize(points, model_->data.dimension());
  y_.resize(points);
  noise_.resize(points);
  // Layer 1 has one node per observation, each layer above one per sample, of observations of its level and higher ones.
  for (int t = 0; t < layers; ++t) {
    NodeLayer nodes;
    for (int i = first_[t]; i < points; ++i) {
      for (int s = 0; s < (t > 0 ? samples : 1); ++s) {
        nodes.point.push_back(i);
        const int at = i - (t > 0 ? first_[t - 1] : 0);
        nodes.parent.push_back(t == 0 ? -1 : t == 1 ? at : at * samples + s);
      }
    }
    nodes.xi.setZero(nodes.size());
    nodes.weight.setConstant(nodes.size(), t > 0 ? 1.0 / samples : 1.0);
    nodes_.push_back(std::move(nodes));
  }
}

void SviElbo::DrawBatch(int64_t step) {
  const ScaledData& data = model_->data;
  const auto position = static_cast<uint32_t>(step);
  for (int t = 0; t < static_cast<int>(nodes_.size()); ++t) {
    const int count = data.count(t), batch = first_[t + 1] - first_[t];
    Random random(seed_, StreamOf(RandomUse::kSviBatch, static_cast<uint32_t>(t)), position);
    for (int i = 0; i < batch; ++i) {
      const int row = data.offset[t] + (batch == count ? i : static_cast<int>(random.Uniform() * count));
      x_.row(first_[t] + i) = data.x.row(row);
      y_[first_[t] + i] = data.y[row];
      noise_[first_[t] + i] = data.noise[row];
    }
    if (t == 0) continue;
    Random normal(seed_, StreamOf(RandomUse::kSviSample, static_cast<uint32_t>(t)), position);
    for (double& xi : nodes_[t].xi) xi = normal.Normal();
  }
}

LayerNodes SviElbo::Nodes(int t, const State& state) const {
  return {.x = &x_, .point = &nodes_[t].point, .f = &state.f};
}

absl::Status SviElbo::FactoriseInducing(int t, const Vector& parameters) {
  const SviModel::Layer& layer = model_->layers[t];
  State& s = states_[t];
  s.theta = layer.Theta(parameters);
  s.inducing_kernel.Forward(layer.shape, s.theta, layer.z, layer.zf, {.x = &layer.z, .point = nullptr, .f = &layer.zf},
                            s.k_zz);
  FIDELIO_RETURN_IF_ERROR(
      s.whitening.Factorise(s.k_zz, model_->settings.jitter, threads_, absl::StrFormat("K_ZZ of layer %d", t)));
  max_jitter_ = std::max(max_jitter_, s.whitening.extra_jitter());
  return absl::OkStatus();
}

absl::Status SviElbo::Forward(int t, const Vector& parameters) {
  const SviModel::Layer& layer = model_->layers[t];
  const NodeLayer& nodes = nodes_[t];
  State& s = states_[t];
  if (t > 0) {
    const State& below = states_[t - 1];
    s.f.resize(nodes.size());
    for (Index p = 0; p < nodes.size(); ++p) {
      const int parent = nodes.parent[p];
      s.f[p] = below.layer.mean()[parent] + nodes.xi[p] * std::sqrt(below.layer.variance()[parent] + kSampleJitter);
    }
  }
  FIDELIO_RETURN_IF_ERROR(FactoriseInducing(t, parameters));
  const LayerNodes at = Nodes(t, s);
  s.node_kernel.Forward(layer.shape, s.theta, layer.z, layer.zf, at, s.k_zp);
  s.whitening.Apply(s.k_zp, s.a);
  s.diagonal = LayerDiagonal(layer.shape, s.theta, at);
  s.m = s.whitening.inverse_factor() * MeanOf(layer, parameters);
  s.whitening.Apply(RootOf(layer, parameters), s.s, Part::kLower);
  s.layer.Forward(s.a, s.diagonal, s.m, s.s, threads_);
  return absl::OkStatus();
}

double SviElbo::LogLikelihood(int t, const Vector& parameters) {
  const SviModel::Layer& layer = model_->layers[t];
  const NodeLayer& nodes = nodes_[t];
  State& s = states_[t];
  const int batch = first_[t + 1] - first_[t];
  if (batch == 0) return 0;
  const double scale = static_cast<double>(model_->data.count(t)) / batch;
  const double learned = layer.noise >= 0 ? layer.Noise(parameters) : kVariationalNoiseFloor;
  double sum = 0;
  for (Index p = 0; p < nodes.size() && nodes.point[p] < first_[t + 1]; ++p) {
    const int i = nodes.point[p];
    const double w = scale * nodes.weight[p], noise = learned + noise_[i];
    const double residual = y_[i] - s.layer.mean()[p], square = residual * residual + s.layer.variance()[p];
    sum -= 0.5 * w * (kLogTwoPi + std::log(noise) + square / noise);
    s.mean_bar[p] += w * residual / noise;
    s.variance_bar[p] -= 0.5 * w / noise;
    s.noise_bar -= 0.5 * w * (1 / noise - square / (noise * noise));
  }
  return sum;
}

absl::StatusOr<double> SviElbo::Evaluate(const Vector& parameters, int64_t step, Vector* gradient) {
  const int layers = static_cast<int>(states_.size());
  DrawBatch(step);
  if (gradient != nullptr) gradient->setZero(model_->size);
  double value = 0;
  for (int t = 0; t < layers; ++t) {
    FIDELIO_RETURN_IF_ERROR(Forward(t, parameters));
    State& s = states_[t];
    s.mean_bar.setZero(nodes_[t].size());
    s.variance_bar.setZero(nodes_[t].size());
    s.noise_bar = 0;
    value += LogLikelihood(t, parameters) - s.layer.divergence();
  }
  if (gradient != nullptr) {
    for (int t = layers; t-- > 0;) Reverse(t, parameters, *gradient);
  }
  return value;
}

void SviElbo::Reverse(int t, const Vector& parameters, Vector& gradient) {
  const SviModel::Layer& layer = model_->layers[t];
  const NodeLayer& nodes = nodes_[t];
  State& s = states_[t];
  const Index m = layer.z.rows();
  s.theta_bar.setZero(layer.shape.size());
  s.layer.Reverse(s.mean_bar, s.variance_bar, s.a_bar, s.m_bar, s.s_bar);
  // m = L⁻¹·mean and S = L⁻¹·root are whitened as covariances are.
  s.whitening.Reverse(s.m, s.m_bar, s.k_bar);
  gradient.segment(layer.mean, m) = s.k_bar.col(0);
  s.whitening.Reverse(s.s, s.s_bar, s.k_bar, Part::kLower);
  Eigen::Map<Matrix>(gradient.data() + layer.root, m, m) = s.k_bar.triangularView<Eigen::Lower>();
  Vector f_bar = Vector::Zero(t > 0 ? nodes.size() : 0), zf_bar = Vector::Zero(layer.zf.size()), unused = zf_bar;
  ReverseLayerDiagonal(layer.shape, s.theta, Nodes(t, s), s.variance_bar, s.theta_bar, f_bar);
  s.whitening.Reverse(s.a, s.a_bar, s.k_bar);
  s.node_kernel.Reverse(s.k_bar, s.theta_bar, zf_bar, f_bar);
  s.whitening.Finish(s.k_bar);
  s.inducing_kernel.Reverse(s.k_bar, s.theta_bar, zf_bar, unused);
  layer.Reverse(parameters, s.theta_bar, s.noise_bar, gradient);
  if (t == 0) return;
  State& below = states_[t - 1];
  for (Index p = 0; p < nodes.size(); ++p) {
    const int parent = nodes.parent[p];
    below.mean_bar[parent] += f_bar[p];
    below.variance_bar[parent] +=
        0.5 * f_bar[p] * nodes.xi[p] / std::sqrt(below.layer.variance()[parent] + kSampleJitter);
  }
}

absl::StatusOr<Matrix> SviElbo::Factor(int t, const Vector& parameters) {
  FIDELIO_RETURN_IF_ERROR(FactoriseInducing(t, parameters));
  return Matrix(states_[t].whitening.factor().triangularView<Eigen::Lower>());
}

absl::StatusOr<SviElbo::Whitened> SviElbo::Whiten(int t, const Vector& parameters) {
  FIDELIO_RETURN_IF_ERROR(FactoriseInducing(t, parameters));
  const SviModel::Layer& layer = model_->layers[t];
  Whitened q;
  q.mean = states_[t].whitening.inverse_factor() * MeanOf(layer, parameters);
  q.root = (states_[t].whitening.inverse_factor() * RootOf(layer, parameters)).triangularView<Eigen::Lower>();
  return q;
}

}  // namespace fidelio
