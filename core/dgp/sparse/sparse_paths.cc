#include "core/dgp/sparse/sparse_paths.h"

#include <cmath>

namespace fidelio {

using Eigen::Index;

SparsePaths::SparsePaths(const SparsePosterior& posterior, int level, std::vector<Random> random)
    : posterior_(posterior), layers_(level + 1) {
  for (int t = 0; t <= level; ++t) {
    const SparseLayerState& state = posterior_.layer(t);
    const Matrix& inverse = posterior_.inverse_factor(t);
    const SpectralFactor over_x{.family = state.shape.family, .dimensions = state.shape.dimension};
    const Inputs at_z = InputsAt(state, state.z);
    const int m = static_cast<int>(state.m.size());
    Layer& layer = layers_[t];
    layer.weights.resize(m, static_cast<Index>(random.size()));
    for (size_t i = 0; i < random.size(); ++i) {
      Prior& prior = layer.priors.emplace_back(
          Prior{.own = SpectralPath({over_x}, kPathWaves, random[i]), .slope = {}, .wave = {}});
      if (state.shape.linked) {
        prior.slope.emplace(std::vector{over_x}, kPathWaves, random[i]);
        prior.wave.emplace(std::vector{over_x, SpectralFactor{}}, kPathWaves, random[i]);
      }
      const Vector e = posterior_.nugget(t).cwiseSqrt().cwiseProduct(random[i].NormalVector(m));
      const Vector v = state.m + state.root * random[i].NormalVector(m);
      const Vector missed = v - inverse * (Evaluate(state, prior, at_z, state.zf) + e);
      layer.weights.col(static_cast<Index>(i)) = inverse.transpose() * missed;
    }
  }
}

SparsePaths::Inputs SparsePaths::InputsAt(const SparseLayerState& state, const Matrix& x) {
  const LayerShape& shape = state.shape;
  const auto divided = [&](int at) -> Matrix {
    return x * (-state.theta.segment(at, shape.dimension).array()).exp().matrix().asDiagonal();
  };
  Inputs inputs{.own = divided(shape.delta()), .rho = {}};
  if (shape.linked) inputs.rho = divided(shape.rho());
  return inputs;
}

Vector SparsePaths::Evaluate(const SparseLayerState& state, const Prior& prior, const Inputs& inputs,
                             const ConstVectorRef& f) {
  const LayerShape& shape = state.shape;
  const auto root = [&](int at) { return std::exp(0.5 * state.theta[at]); };
  Vector p = root(shape.delta_variance()) * prior.own.Evaluate(inputs.own);
  if (!shape.linked) return p;
  Matrix joint(f.size(), inputs.rho.cols() + 1);
  joint << inputs.rho, f * std::exp(-state.theta[shape.link_lengthscale()]);
  p += root(shape.linear()) * prior.slope->Evaluate(inputs.rho).cwiseProduct(f);
  p += root(shape.nonlinear()) * prior.wave->Evaluate(joint);
  return p;
}

Matrix SparsePaths::Evaluate(const Matrix& x) const {
  const Index n = x.rows(), paths = layers_[0].weights.cols();
  Matrix f(n, paths);  // of the layer below, then of the layer
  for (size_t t = 0; t < layers_.size(); ++t) {
    const SparseLayerState& state = posterior_.layer(static_cast<int>(t));
    const Layer& layer = layers_[t];
    const Inputs inputs = InputsAt(state, x);
    LayerKernel kernel;
    Matrix k, update;  // update: n × paths
    if (!state.shape.linked) {
      kernel.Forward(state.shape, state.theta, state.z, state.zf, {.x = &x, .point = nullptr, .f = nullptr}, k);
      update.noalias() = k.transpose() * layer.weights;
    } else {
      // Nodes of all paths at once: their kernels over x are the same.
      std::vector<int> point;
      for (Index i = 0; i < paths; ++i) {
        for (Index row = 0; row < n; ++row) point.push_back(static_cast<int>(row));
      }
      const Vector values = f.reshaped();
      kernel.Forward(state.shape, state.theta, state.z, state.zf, {.x = &x, .point = &point, .f = &values}, k);
      update.resize(n, paths);
      for (Index i = 0; i < paths; ++i) {
        update.col(i).noalias() = k.middleCols(i * n, n).transpose() * layer.weights.col(i);
      }
    }
    for (Index i = 0; i < paths; ++i) f.col(i) = Evaluate(state, layer.priors[i], inputs, f.col(i)) + update.col(i);
  }
  return f;
}

}  // namespace fidelio
