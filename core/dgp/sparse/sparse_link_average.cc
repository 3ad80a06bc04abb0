#include "core/dgp/sparse/sparse_link_average.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/normal_quadrature.h"
#include "core/base/parallel.h"
#include "core/dgp/sparse/layer_kernel.h"
#include "core/kernel/stationary.h"
#include "core/linalg/product.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kNodes = 9;
constexpr Index kBlock = 32;  // columns that one thread works on at a time

struct Rule {
  NormalQuadrature normal{kNodes};
  Matrix projection = HermitePolynomials(normal.node) * normal.weight.asDiagonal();  // row h: w_p H_h(ξ_p)
};

// α_h of every input, h = 0 … kNodes − 1: M×n each.
std::vector<Matrix> Coefficients(const SparsePosterior& posterior, int t, const Matrix& x, const LinkInput& below,
                                 const Rule& rule) {
  const SparseLayerState& state = posterior.layer(t);
  std::vector<Matrix> coefficients(kNodes, Matrix::Zero(state.m.size(), x.rows()));
  LayerKernel kernel;
  Matrix k, a;
  for (int p = 0; p < kNodes; ++p) {
    const Vector f = below.mean + rule.normal.node[p] * below.sd;
    kernel.Forward(state.shape, state.theta, state.z, state.zf, {.x = &x, .point = nullptr, .f = &f}, k);
    a.resize(k.rows(), k.cols());
    Multiply({.a = Part::kLower}, 1, posterior.inverse_factor(t), k, Write::kSet, a);
    for (int h = 0; h < kNodes; ++h) coefficients[h] += rule.projection(h, p) * a;
  }
  return coefficients;
}

// The layer's prior kernel, averaged: Σ_h R^h Σ_pq … k((x, f_p), (x', f'_q)).
class PriorAverage {
 public:
  PriorAverage(const SparseLayerState& state, const Matrix& x, const LinkInput& below, const Rule& rule)
      : state_(state), below_(below), rule_(rule) {
    const int d = state.shape.dimension;
    const auto scaled = [&](int at) -> Matrix {
      return x * (-state.theta.segment(at, d).array()).exp().matrix().asDiagonal();
    };
    rho_ = scaled(state.shape.rho());
    delta_ = scaled(state.shape.delta());
  }

  // Between the inputs from `begin` on and the `columns` first of them.
  void Fill(Index begin, Index columns, Matrix& out) const {
    const LayerShape& shape = state_.shape;
    const auto value = [&](int at) { return std::exp(state_.theta[at]); };
    const double linear = value(shape.linear()), nonlinear = value(shape.nonlinear());
    const double inverse = 1 / value(shape.link_lengthscale());
    const Index rows = below_.mean.size() - begin;
    Matrix rho;
    CrossKernel(shape.family, 1, rho_.bottomRows(rows), rho_.middleRows(begin, columns), rho);
    CrossKernel(shape.family, value(shape.delta_variance()), delta_.bottomRows(rows), delta_.middleRows(begin, columns),
                out);
    const Eigen::ArrayXd mean = below_.mean.tail(rows), sd = below_.sd.tail(rows);
    Eigen::ArrayXd weight(rows), wave(rows);
    for (Index j = 0; j < columns; ++j) {
      const double mean_j = mean[j], sd_j = sd[j];
      const auto r = below_.correlation.col(begin + j).tail(rows).array();
      wave.setZero();
      for (int p = 0; p < kNodes; ++p) {
        for (int q = 0; q < kNodes; ++q) {
          weight.setConstant(rule_.projection(kNodes - 1, p) * rule_.projection(kNodes - 1, q));
          for (int h = kNodes - 2; h >= 0; --h) {
            weight = weight * r + rule_.projection(h, p) * rule_.projection(h, q);
          }
          const double f_j = mean_j + rule_.normal.node[q] * sd_j;
          wave += weight * (-0.5 * ((mean + rule_.normal.node[p] * sd - f_j) * inverse).square()).exp();
        }
      }
      const auto product = mean * mean_j + r * sd * sd_j;  // E[f f']
      out.col(j).array() += rho.col(j).array() * (linear * product + nonlinear * wave);
    }
  }

 private:
  const SparseLayerState& state_;
  const LinkInput& below_;
  const Rule& rule_;
  Matrix rho_, delta_;  // inputs, divided by the lengthscales
};

}  // namespace

LinkAverage AverageOverLink(const SparsePosterior& posterior, int t, const Matrix& x, const LinkInput& below,
                            int threads) {
  const SparseLayerState& state = posterior.layer(t);
  const Index n = x.rows(), m = state.m.size();
  const Rule rule;
  const PriorAverage prior(state, x, below, rule);
  const std::vector<Matrix> coefficients = Coefficients(posterior, t, x, below, rule);
  std::vector<Matrix> halves(kNodes, Matrix(m, n));  // Sᵀα_h
  Matrix mean(kNodes, n);
  for (int h = 0; h < kNodes; ++h) {
    Multiply({}, 1, state.root.transpose(), coefficients[h], Write::kSet, halves[h]);
    mean.row(h).noalias() = state.m.transpose() * coefficients[h];
  }
  LinkAverage result{.own = Matrix::Zero(n, n), .curved = Matrix::Zero(n, n)};
  ParallelFor(static_cast<int>((n + kBlock - 1) / kBlock), threads, [&](int b) {
    // The lower triangle, by blocks of columns.
    const Index begin = b * kBlock, columns = std::min(kBlock, n - begin), rows = n - begin;
    const auto r = below.correlation.block(begin, begin, rows, columns);
    Matrix power = Matrix::Ones(rows, columns), product(rows, columns);
    prior.Fill(begin, columns, product);
    result.own.block(begin, begin, rows, columns) = product;
    for (int h = 0; h < kNodes; ++h) {
      const Matrix &a = coefficients[h], &half = halves[h];
      Multiply({}, 1, half.rightCols(rows).transpose(), half.middleCols(begin, columns), Write::kSet, product);
      Multiply({}, -1, a.rightCols(rows).transpose(), a.middleCols(begin, columns), Write::kAdd, product);
      result.own.block(begin, begin, rows, columns) += power.cwiseProduct(product);
      if (h >= 2) {
        product.noalias() = mean.row(h).tail(rows).transpose() * mean.row(h).segment(begin, columns);
        result.curved.block(begin, begin, rows, columns) += power.cwiseProduct(product);
      }
      power = power.cwiseProduct(r);
    }
  });
  for (Matrix* c : {&result.own, &result.curved}) {
    c->triangularView<Eigen::StrictlyUpper>() = c->transpose();
  }
  return result;
}

}  // namespace fidelio
