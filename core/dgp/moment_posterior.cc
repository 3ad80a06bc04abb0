#include "core/dgp/moment_posterior.h"

#include <cmath>

#include "core/base/status_macros.h"
#include "core/kernel/stationary.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kLeastVariance = 1e-12;  // of a latent function, in standardised units

Eigen::Map<Eigen::ArrayXd> Flat(Matrix& m) { return {m.data(), m.size()}; }

void Radial(KernelFamily family, Matrix& s, Matrix* slope) {
  Eigen::ArrayXd derivative;
  EvaluateRadial(family, Flat(s), slope == nullptr ? nullptr : &derivative);
  if (slope != nullptr) *slope = derivative.matrix().reshaped(s.rows(), s.cols());
}

}  // namespace

absl::StatusOr<MomentPosterior> MomentPosterior::Build(MomentRecursion& recursion, const Vector& theta) {
  FIDELIO_RETURN_IF_ERROR(recursion.Forward(theta));
  const MomentModel& model = recursion.model();
  const int levels = model.data.levels();
  MomentPosterior p;
  p.model_ = recursion.shared_model();
  p.theta_ = theta;
  p.link_weights_ = recursion.link_weights();
  p.log_likelihood_ = recursion.log_likelihood();
  p.first_inputs_ = model.FirstInputs(theta, model.data.x);
  p.levels_.resize(levels);
  for (int t = 0; t < levels; ++t) {
    Level& level = p.levels_[t];
    const int links = t == 0 ? 1 : p.links();
    if (t > 0) {
      const auto x = model.data.x.bottomRows(model.data.rest(t));
      level.scalars = model.Scalars(theta, t);
      level.rho_inverse = model.RhoLengthscales(theta, t).cwiseInverse();
      level.delta_inverse = model.DeltaLengthscales(theta, t).cwiseInverse();
      level.rho_inputs = x * level.rho_inverse.asDiagonal();
      level.delta_inputs = x * level.delta_inverse.asDiagonal();
    }
    double residuals = 0;
    for (int l = 0; l < links; ++l) {
      const Conditioning& c = recursion.conditioning(t, l);
      Conditioned kept;
      kept.inverse_factor = c.inverse_factor();
      kept.alpha = c.alpha();
      kept.cross_weights = c.cross_weights();
      if (t > 0) {
        const Link& link = model.recipe.links[l];
        kept.m = recursion.lower_mean(t, l);
        kept.v = recursion.lower_variance(t, l);
        kept.prior_offset = link.offset ? model.Offset(theta, t) : 0;
        kept.zero = link.raw_zero ? model.data.raw_zero : 0;
      }
      const double weight = t == 0 ? 1 : p.link_weights_[l];
      const Vector precision = kept.inverse_factor.colwise().squaredNorm();
      residuals += weight * kept.alpha.array().square().cwiseQuotient(precision.array()).sum();
      level.links.push_back(std::move(kept));
    }
    p.leave_one_out_.push_back(model.data.count(t) > 0 ? residuals / model.data.count(t) : 1);
    p.noise_.push_back(model.LearnedNoise(theta, t));
  }
  return p;
}

// query.cross: points of levels ≥ t on entry, of levels > t on return.
void MomentPosterior::Condition(const Conditioned& on, Query& query) const {
  const Index n = on.alpha.size(), rest = query.cross.rows() - n;
  if (n > 0) {
    const auto own = query.cross.topRows(n);
    query.mean.noalias() += own.transpose() * on.alpha;
    const Matrix half = on.inverse_factor.triangularView<Eigen::Lower>() * own;
    query.variance = (query.variance.array() - half.colwise().squaredNorm().transpose().array()).max(kLeastVariance);
    Matrix cross = query.cross.bottomRows(rest);
    if (rest > 0) cross.noalias() -= on.cross_weights * own;
    query.cross.swap(cross);
  }
}

MomentPosterior::Query MomentPosterior::First(const Matrix& x) const {
  const double amplitude = std::exp(theta_[model_->layout.first.amplitude]);
  Query query;
  CrossDistances(first_inputs_, model_->FirstInputs(theta_, x), query.cross);
  Radial(model_->recipe.kernel, query.cross, nullptr);
  query.cross *= amplitude;
  query.mean.setConstant(x.rows(), theta_[model_->layout.first.mean]);
  query.variance.setConstant(x.rows(), amplitude);
  if (const double trend = model_->Trend(theta_, 0); trend > 0) {
    query.cross += trend * model_->TrendKernel(model_->data.x, x);
    query.variance += trend * model_->TrendDiagonal(x);
  }
  return query;
}

void MomentPosterior::CrossKernels(const Matrix& x, int t, Matrix& rho_kernel, Matrix& delta_kernel, Matrix& trend,
                                   Matrix* rho_slope, Matrix* delta_slope) const {
  const Level& level = levels_[t];
  CrossDistances(level.rho_inputs, x * level.rho_inverse.asDiagonal(), rho_kernel);
  Radial(model_->recipe.kernel, rho_kernel, rho_slope);
  CrossDistances(level.delta_inputs, x * level.delta_inverse.asDiagonal(), delta_kernel);
  Radial(model_->recipe.kernel, delta_kernel, delta_slope);
  if (level.scalars.trend > 0) {
    trend = model_->TrendKernel(model_->data.x.bottomRows(model_->data.rest(t)), x);
  }
}

// The query's moments under level t's prior, from those of level t−1 given y_<t.
MomentPosterior::Query MomentPosterior::Up(const Matrix& x, const Query& below, int t, const Conditioned& to,
                                           const Matrix& rho_kernel, const Matrix& delta_kernel,
                                           const Matrix& trend) const {
  const LinkScalars& s = levels_[t].scalars;
  Query query;
  query.cross = below.cross;
  CrossLinkKernel(s, rho_kernel, delta_kernel, trend, to.m, to.v, below.mean, below.variance, query.cross);
  query.cross.array() += to.prior_offset;
  const auto m = below.mean.array(), v = below.variance.array();
  query.mean = s.rho * m + (1 - s.rho) * to.zero;
  query.variance = s.linear * (m.square() + v) + s.rho * s.rho * v + (s.nonlinear + s.delta + to.prior_offset);
  if (s.trend > 0) query.variance += s.trend * model_->TrendDiagonal(x);
  return query;
}

MomentPosterior::Gaussians MomentPosterior::Predict(const Matrix& x, int level) const {
  const int levels = static_cast<int>(levels_.size());
  Gaussians result{.mean = Matrix(links(), x.rows()), .variance = Matrix(links(), x.rows())};
  Query first = First(x);
  Condition(levels_[0].links[0], first);
  std::vector<Query> queries(links(), first);
  Matrix rho_kernel, delta_kernel, trend;
  for (int t = 1; t <= level; ++t) {
    CrossKernels(x, t, rho_kernel, delta_kernel, trend, nullptr, nullptr);
    for (int l = 0; l < links(); ++l) {
      queries[l] = Up(x, queries[l], t, levels_[t].links[l], rho_kernel, delta_kernel, trend);
      Condition(levels_[t].links[l], queries[l]);
    }
  }
  for (int l = 0; l < links(); ++l) {
    for (int t = level + 1; t < levels; ++t) {  // smoothing by the levels above
      queries[l].cross *= levels_[t].scalars.rho;
      Condition(levels_[t].links[l], queries[l]);
    }
    result.mean.row(l) = queries[l].mean;
    result.variance.row(l) = queries[l].variance;
  }
  return result;
}

}  // namespace fidelio
