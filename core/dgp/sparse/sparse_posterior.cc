#include "core/dgp/sparse/sparse_posterior.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/gp/whitening.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kLeastVariance = 1e-14;

}  // namespace

absl::StatusOr<SparsePosterior> SparsePosterior::Build(std::vector<SparseLayerState> states) {
  SparsePosterior posterior;
  for (SparseLayerState& state : states) {
    LayerKernel kernel;
    Matrix k;
    kernel.Forward(state.shape, state.theta, state.z, state.zf, {.x = &state.z, .point = nullptr, .f = &state.zf}, k);
    Whitening whitening;
    FIDELIO_RETURN_IF_ERROR(whitening.Factorise(
        k, state.jitter, 0, absl::StrFormat("covariance of the inducing variables of layer %d", posterior.levels())));
    Vector nugget = state.jitter * k.diagonal();
    if (nugget.size() > 0) nugget.array() += whitening.extra_jitter() * (k.diagonal() + nugget).mean();
    posterior.layers_.push_back({std::move(state), whitening.inverse_factor(), std::move(nugget)});
  }
  return posterior;
}

SparsePosterior::Evaluation::Evaluation(const SparsePosterior& posterior, const Matrix& x, const NodePlan& plan,
                                        int level)
    : posterior_(posterior), x_(x), plan_(plan), level_(level), at_(level + 1) {
  for (int t = 0; t <= level; ++t) {
    const SparsePosterior::Layer& layer = posterior.layers_[t];
    const SparseLayerState& state = layer.state;
    const NodeLayer& nodes = plan.layers[t];
    Layer& at = at_[t];
    if (t > 0) {
      at.f.resize(nodes.size());
      for (Index p = 0; p < nodes.size(); ++p) {
        const int parent = nodes.parent[p];
        at.f[p] =
            at_[t - 1].mean[parent] + nodes.xi[p] * std::sqrt(std::max(at_[t - 1].variance[parent], kLeastVariance));
      }
    }
    at.nodes = {.x = &x_, .point = &nodes.point, .f = &at.f};
    at.kernel.Forward(state.shape, state.theta, state.z, state.zf, at.nodes, at.k);
    at.a.resize(at.k.rows(), at.k.cols());
    Multiply({.a = Part::kLower}, 1, layer.inverse, at.k, Write::kSet, at.a);
    at.half.resize(at.k.rows(), at.k.cols());
    Multiply({}, 1, state.root.transpose(), at.a, Write::kSet, at.half);
    at.mean.noalias() = at.a.transpose() * state.m;
    at.rest =
        (LayerDiagonal(state.shape, state.theta, at.nodes) - at.a.colwise().squaredNorm().transpose()).cwiseMax(0);
    at.variance = (at.rest + at.half.colwise().squaredNorm().transpose()).cwiseMax(kLeastVariance);
  }
}

Matrix SparsePosterior::Evaluation::Gradient(const Vector& top_mean_bar, const Vector& top_variance_bar) {
  Matrix x_bar = Matrix::Zero(x_.rows(), x_.cols());
  Vector mean_bar = top_mean_bar, variance_bar = top_variance_bar, unused;
  for (int t = level_; t >= 0; --t) {
    const SparsePosterior::Layer& layer = posterior_.layers_[t];
    const SparseLayerState& state = layer.state;
    const NodeLayer& nodes = plan_.layers[t];
    Layer& at = at_[t];
    Matrix a_bar = state.m * mean_bar.transpose() + 2 * (state.root * at.half - at.a) * variance_bar.asDiagonal();
    Matrix k_bar(at.a.rows(), at.a.cols());
    Multiply({.a = Part::kUpper}, 1, layer.inverse.transpose(), a_bar, Write::kSet, k_bar);
    Vector theta_bar = Vector::Zero(state.theta.size()), zf_bar = Vector::Zero(state.zf.size());
    Vector f_bar = Vector::Zero(t > 0 ? nodes.size() : 0);
    ReverseLayerDiagonal(state.shape, state.theta, at.nodes, variance_bar, theta_bar, f_bar);
    at.kernel.Reverse(k_bar, theta_bar, zf_bar, f_bar);
    at.kernel.AddInputGradient(x_bar);
    if (t == 0) break;
    mean_bar.setZero(at_[t - 1].mean.size());
    variance_bar.setZero(at_[t - 1].mean.size());
    for (Index p = 0; p < nodes.size(); ++p) {
      const int parent = nodes.parent[p];
      mean_bar[parent] += f_bar[p];
      const double variance = at_[t - 1].variance[parent];
      if (variance > kLeastVariance) variance_bar[parent] += 0.5 * f_bar[p] * nodes.xi[p] / std::sqrt(variance);
    }
  }
  return x_bar;
}

SparsePosterior::Moments SparsePosterior::LayerMoments(int t, const Matrix& x, const Vector& f) const {
  const Layer& layer = layers_[t];
  const SparseLayerState& state = layer.state;
  LayerKernel kernel;
  Matrix k;
  const LayerNodes nodes{.x = &x, .point = nullptr, .f = &f};
  kernel.Forward(state.shape, state.theta, state.z, state.zf, nodes, k);
  Matrix a(k.rows(), k.cols()), half(k.rows(), k.cols());
  Multiply({.a = Part::kLower}, 1, layer.inverse, k, Write::kSet, a);
  Multiply({}, 1, state.root.transpose(), a, Write::kSet, half);
  const Vector rest =
      (LayerDiagonal(state.shape, state.theta, nodes) - a.colwise().squaredNorm().transpose()).cwiseMax(0);
  return {.mean = a.transpose() * state.m,
          .variance = (rest + half.colwise().squaredNorm().transpose()).cwiseMax(kLeastVariance)};
}

Matrix SparsePosterior::LayerCovariance(int t, const Matrix& x, const Vector& f) const {
  const Layer& layer = layers_[t];
  const SparseLayerState& state = layer.state;
  LayerKernel kernel;
  Matrix k, covariance;
  const LayerNodes nodes{.x = &x, .point = nullptr, .f = &f};
  kernel.Forward(state.shape, state.theta, x, f, nodes, covariance);
  kernel.Forward(state.shape, state.theta, state.z, state.zf, nodes, k);
  Matrix a(k.rows(), k.cols()), half(k.rows(), k.cols());
  Multiply({.a = Part::kLower}, 1, layer.inverse, k, Write::kSet, a);
  Multiply({}, 1, state.root.transpose(), a, Write::kSet, half);
  Multiply({.c = Part::kLower}, -1, a.transpose(), a, Write::kAdd, covariance);
  Multiply({.c = Part::kLower}, 1, half.transpose(), half, Write::kAdd, covariance);
  covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();
  return covariance;
}

}  // namespace fidelio
