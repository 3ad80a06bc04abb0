// Joint moments of sparse layers (the formulas are in sparse_mf_dgp_posterior.h).
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_link_average.h"
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"

namespace fidelio {
namespace {

using Eigen::Index;

// What the nodes of each point say about layer t: E[var], and mean as a linear function of f and a rest.
struct NodeMoments {
  Vector mean, within, slope_sd, rest_sd;  // slope_sd: b·√Var[f], with b's sign; rest_sd: e

  NodeMoments(const NodeLayer& nodes, const SparsePosterior::Evaluation& at, int t, Index points) {
    mean.setZero(points);
    within.setZero(points);
    slope_sd.setZero(points);
    rest_sd.setZero(points);
    Vector f = Vector::Zero(points), f_variance = f, covariance = f, variance = f;
    for (Index p = 0; p < nodes.size(); ++p) {
      mean[nodes.point[p]] += nodes.weight[p] * at.mean(t)[p];
      within[nodes.point[p]] += nodes.weight[p] * at.variance(t)[p];
      if (t > 0) f[nodes.point[p]] += nodes.weight[p] * at.f(t)[p];
    }
    if (t == 0) return;
    for (Index p = 0; p < nodes.size(); ++p) {
      const Index i = nodes.point[p];
      const double df = at.f(t)[p] - f[i], dm = at.mean(t)[p] - mean[i];
      f_variance[i] += nodes.weight[p] * df * df;
      covariance[i] += nodes.weight[p] * df * dm;
      variance[i] += nodes.weight[p] * dm * dm;
    }
    for (Index i = 0; i < points; ++i) {
      slope_sd[i] = f_variance[i] > 0 ? covariance[i] / std::sqrt(f_variance[i]) : 0;
      rest_sd[i] = std::sqrt(std::max(0.0, variance[i] - slope_sd[i] * slope_sd[i]));
    }
  }
};

// The correlations of f, with ones on the diagonal, of the points `rows`.
LinkInput Below(const Vector& mean, const Matrix& covariance, const std::vector<int>& rows) {
  LinkInput below{.mean = mean(rows), .sd = {}, .correlation = covariance(rows, rows)};
  below.sd = below.correlation.diagonal().cwiseMax(0).cwiseSqrt();
  const Vector inverse = (below.sd.array() > 0).select(below.sd.cwiseInverse(), 0);
  below.correlation = (inverse.asDiagonal() * below.correlation * inverse.asDiagonal()).cwiseMax(-1).cwiseMin(1);
  below.correlation.diagonal().setOnes();
  return below;
}

// What to multiply rows and columns of a covariance by, so that its diagonal becomes `variance`.
Vector ScaleTo(const ConstVectorRef& variance, const Matrix& covariance) {
  const auto diagonal = covariance.diagonal().array();
  return (diagonal > 0).select((variance.array() / diagonal).sqrt(), 0);
}

}  // namespace

absl::StatusOr<Posterior::JointGaussian> SparseMfDgpPosterior::Joint(const Matrix& x, const std::vector<int>& levels,
                                                                     const JointOptions& options) const {
  const int top = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
  const Index n = x.rows();
  const NodePlan plan(levels, top + 1, NodeRule());
  const SparsePosterior::Evaluation at(layers_, x, plan, top);
  Vector mean = Vector::Zero(n);
  Matrix c = Matrix::Zero(n, n);
  for (int t = 0; t <= top; ++t) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    const NodeMoments moments(plan.layers[t], at, t, n);
    std::vector<int> rows;
    for (Index i = 0; i < n; ++i) {
      if (levels[i] >= t) rows.push_back(static_cast<int>(i));
    }
    if (t == 0) {
      mean = moments.mean;
      c = layers_.LayerCovariance(0, x, {});
      c.diagonal() = moments.within;
      continue;
    }
    const LinkInput below = Below(mean, c, rows);
    const LinkAverage average = AverageOverLink(layers_, t, x(rows, Eigen::all), below, options.threads);
    Vector factor = Vector::Ones(n);  // of f_{t−1} in f_t
    for (size_t k = 0; k < rows.size(); ++k) {
      const double sd = below.sd[static_cast<Index>(k)];
      factor[rows[k]] = sd > 0 ? moments.slope_sd[rows[k]] / sd : 0;
      mean[rows[k]] = moments.mean[rows[k]];
    }
    const Vector own = ScaleTo(moments.within(rows), average.own);
    const Vector curved = ScaleTo(moments.rest_sd(rows).cwiseAbs2(), average.curved);
    c = factor.asDiagonal() * c * factor.asDiagonal();
    ParallelFor(static_cast<int>(rows.size()), options.threads, [&](int j) {
      for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        c(rows[i], rows[j]) += own[i] * own[j] * average.own(i, j) + curved[i] * curved[j] * average.curved(i, j);
      }
    });
  }
  return JointGaussian{.mean = std::move(mean), .covariance = std::move(c)};
}

}  // namespace fidelio
