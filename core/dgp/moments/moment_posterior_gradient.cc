// The gradient of a prediction with respect to its inputs: one reverse pass through the recursion of
// MomentPosterior::Predict, for all query points at once (each column depends on its own input only).
#include <cmath>
#include <vector>

#include "core/dgp/moments/moment_posterior.h"
#include "core/kernel/stationary.h"
#include "core/linalg/product.h"

namespace fidelio {
namespace {

using Eigen::Index;

}  // namespace

// From adjoints of the moments after conditioning (bar.cross: points of levels > t) to those before (levels ≥ t).
void MomentPosterior::ReverseCondition(const Conditioned& on, const Passage& at, QueryMoments& bar) const {
  const Index n = on.alpha.size(), rest = bar.cross.rows();
  Matrix product_bar(n + rest, bar.cross.cols());  // with the opposite sign
  product_bar.topRows(n) = at.product.topRows(n) * (2 * bar.variance).asDiagonal();
  product_bar.bottomRows(rest) = bar.cross;
  Matrix before(n + rest, bar.cross.cols());
  before.topRows(n) = on.alpha * bar.mean.transpose();
  Multiply({.a = Part::kUpper}, -1, on.panels.Dense().transpose(), product_bar, Write::kAdd, before.topRows(n));
  before.bottomRows(rest) = bar.cross;
  bar.cross.swap(before);
}

// From adjoints of the moments under level t's prior to those of level t−1; adds ∂/∂x to x_bar.
void MomentPosterior::ReverseUp(const Matrix& x, const QueryMoments& below, int t, const Conditioned& to,
                                QueryMoments& bar, Matrix& x_bar) const {
  const Level& level = levels_[t];
  const LinkScalars& s = level.scalars;
  const Matrix rho_inputs = x * level.rho_inverse.asDiagonal(), delta_inputs = x * level.delta_inverse.asDiagonal();
  Matrix rho_kernel, delta_kernel, rho_slope, delta_slope;
  CrossKernelWithSlope(model_->recipe.kernel, level.rho_inputs, rho_inputs, rho_kernel, rho_slope);
  CrossKernelWithSlope(model_->recipe.kernel, level.delta_inputs, delta_inputs, delta_kernel, delta_slope);
  Vector m_bar = s.rho * bar.mean, v_bar = Vector::Zero(x.rows());
  ReverseLinkDiagonal(s, below.mean, below.variance, bar.variance, m_bar, v_bar);
  Matrix rho_bar, c_bar;
  ReverseCrossLinkKernel(s, rho_kernel, to.m, to.v, below.mean, below.variance, below.cross, bar.cross, rho_bar, c_bar,
                         m_bar, v_bar);
  rho_slope.array() *= rho_bar.array();
  delta_slope.array() *= s.delta * bar.cross.array();
  Matrix scaled_bar = Matrix::Zero(x.rows(), x.cols());
  AccumulateCrossInputGradient(level.rho_inputs, rho_inputs, rho_slope, scaled_bar);
  x_bar += scaled_bar * level.rho_inverse.asDiagonal();
  scaled_bar.setZero();
  AccumulateCrossInputGradient(level.delta_inputs, delta_inputs, delta_slope, scaled_bar);
  x_bar += scaled_bar * level.delta_inverse.asDiagonal();
  if (s.trend > 0) model_->AddTrendGradient(x, s.trend, t, bar, x_bar);
  bar = {.cross = std::move(c_bar), .mean = std::move(m_bar), .variance = std::move(v_bar)};
}

MomentPosterior::Adjoints MomentPosterior::Reverse(const MomentQueries& queries, int level,
                                                   const ConstMatrixRef& mean_bar, const ConstMatrixRef& variance_bar,
                                                   Workspace& workspace) const {
  const Matrix& x = queries.x;
  Adjoints result{.x = Matrix::Zero(x.rows(), x.cols()), .given = {}};
  Begin(queries, level, workspace);
  for (int l = 0; l < links(); ++l) {
    Climb(queries, level, l, workspace);
    Smooth(level, l, workspace);
    QueryMoments bar{.cross = Matrix(0, x.rows()), .mean = mean_bar.row(l), .variance = variance_bar.row(l)};
    for (int t = static_cast<int>(levels_.size()) - 1; t > level; --t) {
      ReverseCondition(levels_[t].links[l], workspace.levels[t], bar);
      bar.cross *= levels_[t].scalars.rho;
    }
    for (int t = level; t >= 1; --t) {
      ReverseCondition(levels_[t].links[l], workspace.levels[t], bar);
      ReverseUp(x, workspace.levels[t - 1].given, t, levels_[t].links[l], bar, result.x);
    }
    ReverseCondition(levels_[0].links[0], workspace.levels[0], bar);
    first_->Reverse(queries, bar, result.x, result.given);
  }
  return result;
}

Matrix MomentPosterior::Gradient(const Matrix& x, int level, const Matrix& mean_bar, const Matrix& variance_bar) const {
  Workspace workspace;
  return Gradient(MomentQueries(*model_, x), level, mean_bar, variance_bar, workspace);
}

}  // namespace fidelio
