// SparseMfDgp at many inputs at once: joint moments and paths (the formulas are in sparse_mf_dgp.h).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse_mf_dgp.h"
#include "core/dgp/sparse_mf_dgp_impl.h"
#include "core/emulator/query_check.h"
#include "core/linalg/covariance_factor.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr uint32_t kNoiseStream = 1, kPathStream = 2;  // of a SampleOptions::seed; layer t has kPathStream + t

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

// Values of f_{t−1} on the mean's path, of the points that have it.
Vector CentreInputs(const NodeLayer& nodes, const SparsePosterior::Evaluation& at, int t,
                    const std::vector<int>& points) {
  if (t == 0) return {};
  Vector f(points.size());
  for (size_t k = 0; k < points.size(); ++k) f[static_cast<Index>(k)] = at.f(t)[nodes.centre[points[k]]];
  return f;
}

}  // namespace

absl::StatusOr<JointPosterior> SparseMfDgp::JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                           const PredictOptions& options) const {
  FIDELIO_RETURN_IF_ERROR(CheckJointQuery(*this, x, levels));
  const int top = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
  const Index n = x.rows();
  const Matrix scaled = impl_->scaling.ScaleInputs(x);
  const NodePlan plan(levels, top + 1, NodeRule());
  const SparsePosterior::Evaluation at(impl_->posterior, scaled, plan, top);
  Vector mean = Vector::Zero(n);
  Matrix c = Matrix::Zero(n, n);
  for (int t = 0; t <= top; ++t) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    const NodeMoments moments(plan.layers[t], at, t, n);
    std::vector<int> rows;
    for (Index i = 0; i < n; ++i) {
      if (levels[i] >= t) rows.push_back(static_cast<int>(i));
    }
    const Vector sd = c.diagonal().cwiseSqrt();
    Vector factor = Vector::Ones(n);  // of f_{t−1} in f_t
    for (int i : rows) {
      factor[i] = t > 0 && sd[i] > 0 ? moments.slope_sd[i] / sd[i] : 0;
      mean[i] = moments.mean[i];
    }
    const Matrix own =
        impl_->posterior.LayerCovariance(t, scaled(rows, Eigen::all), CentreInputs(plan.layers[t], at, t, rows));
    const Matrix before = t > 0 && moments.rest_sd.maxCoeff() > 0 ? c : Matrix();
    c = factor.asDiagonal() * c * factor.asDiagonal();
    ParallelFor(static_cast<int>(rows.size()), options.threads, [&](int k) {
      const int j = rows[k];
      const auto scale = [&](Index l) { return own(l, l) > 0 ? std::sqrt(moments.within[rows[l]] / own(l, l)) : 0.0; };
      const double scale_j = scale(k);
      for (size_t l = 0; l < rows.size(); ++l) {
        const int i = rows[l];
        c(i, j) += scale(static_cast<Index>(l)) * scale_j * own(static_cast<Index>(l), k);
        if (before.size() == 0 || !(sd[i] > 0 && sd[j] > 0)) continue;
        const double correlation = i == j ? 1 : before(i, j) / (sd[i] * sd[j]);
        c(i, j) += moments.rest_sd[i] * moments.rest_sd[j] * correlation * correlation;
      }
    });
  }
  const double sd = impl_->scaling.output_sd;
  JointPosterior result;
  result.mean = mean.array() * sd + impl_->scaling.output_mean;
  result.covariance = 0.5 * sd * sd * (c + c.transpose());
  if (options.include_noise) {
    for (Index i = 0; i < n; ++i) result.covariance(i, i) += impl_->NoiseAt(levels[i]);
  }
  return result;
}

absl::StatusOr<Matrix> SparseMfDgp::SamplePaths(const Matrix& x, const SampleOptions& options) const {
  if (options.count < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("count: %d, want at least 1", options.count));
  }
  FIDELIO_RETURN_IF_ERROR(CheckJointSize(x));
  FIDELIO_RETURN_IF_ERROR(CheckQuery(*this, x, options.level));
  const int level = options.level < 0 ? this->levels() - 1 : options.level;
  const Index n = x.rows();
  const Matrix scaled = impl_->scaling.ScaleInputs(x);
  const NodePlan plan(std::vector<int>(n, level), level + 1, NodeRule());
  const SparsePosterior::Evaluation at(impl_->posterior, scaled, plan, level);
  std::vector<int> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  Matrix f(n, options.count);  // a path per column
  for (int t = 0; t <= level; ++t) {
    if (options.check) FIDELIO_RETURN_IF_ERROR(options.check());
    // A root of the layer's correlations on the mean's path.
    Matrix root = impl_->posterior.LayerCovariance(t, scaled, CentreInputs(plan.layers[t], at, t, rows));
    const Vector inverse_sd = root.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
    root = inverse_sd.asDiagonal() * root * inverse_sd.asDiagonal();
    FIDELIO_RETURN_IF_ERROR(FactoriseCovariance(root, "correlation of sampled inputs"));
    ParallelFor(options.count, options.threads, [&](int k) {
      Random random(options.seed, kPathStream + static_cast<uint32_t>(t), static_cast<uint32_t>(k));
      const Vector z = root * random.NormalVector(static_cast<int>(root.cols()));
      const SparsePosterior::Moments own =
          impl_->posterior.LayerMoments(t, scaled, t > 0 ? Vector(f.col(k)) : Vector());
      f.col(k) = own.mean + own.variance.cwiseSqrt().cwiseProduct(z);
    });
  }
  Matrix paths = (f.transpose().array() * impl_->scaling.output_sd + impl_->scaling.output_mean).matrix();
  if (!options.include_noise) return paths;
  const double noise_sd = std::sqrt(impl_->NoiseAt(level));
  for (int k = 0; k < options.count; ++k) {
    Random random(options.seed, kNoiseStream, static_cast<uint32_t>(k));
    paths.row(k) += noise_sd * random.NormalVector(static_cast<int>(n)).transpose();
  }
  return paths;
}

}  // namespace fidelio
