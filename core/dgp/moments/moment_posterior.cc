#include "core/dgp/moments/moment_posterior.h"

#include <cmath>

#include "core/base/status_macros.h"
#include "core/kernel/stationary.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kLeastLatentVariance = 1e-12;  // of a latent function, in standardised units

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
  p.first_ = model.first->At(model, theta);
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
      kept.panels = LowerPanels(c.inverse_factor(), c.cross_weights());
      kept.alpha = c.alpha();
      if (t > 0) {
        const Link& link = model.recipe.links[l];
        kept.m = recursion.lower_mean(t, l);
        kept.v = recursion.lower_variance(t, l);
        kept.prior_offset = link.offset ? model.Offset(theta, t) : 0;
        kept.zero = link.raw_zero ? model.data.raw_zero : 0;
      }
      const double weight = t == 0 ? 1 : p.link_weights_[l];
      kept.left_out = LeaveOut(c.inverse_factor(), c.whitened(), kept.alpha, 0, model.copies[t].copies);
      const EqualRows& copies = model.copies[t];
      residuals += weight * (copies.copies.empty() ? kept.left_out.squared.sum()
                                                   : copies.count * GroupMean(kept.left_out.squared, copies.group));
      level.links.push_back(std::move(kept));
    }
    p.leave_one_out_.push_back(model.data.count(t) > 0 ? residuals / model.copies[t].count : 1);
    p.noise_.push_back(model.LearnedNoise(theta, t));
    p.log_likelihood_to_.push_back(recursion.log_likelihood_below(t));
  }
  return p;
}

MomentPosterior::LeftOutGaussians MomentPosterior::LeaveOneOut(int level) const {
  const ScaledData& data = model_->data;
  const auto y = data.y.segment(data.offset[level], data.count(level)).transpose();
  const Index densities = model_->copies[level].copies.empty() ? 0 : y.size();
  LeftOutGaussians result{.mean = Matrix(links(), y.size()),
                          .variance = Matrix(links(), y.size()),
                          .log_density = Matrix(links(), densities)};
  for (int l = 0; l < links(); ++l) {
    const LeftOut& left_out = levels_[level].links[level == 0 ? 0 : l].left_out;
    result.variance.row(l) = left_out.variance.transpose();
    result.mean.row(l) = y - left_out.error.transpose();
    result.log_density.row(l) = left_out.log_density.transpose();
  }
  return result;
}

void MomentPosterior::Condition(const Conditioned& on, Passage& at) const {
  const QueryMoments& prior = at.prior;
  QueryMoments& given = at.given;
  const Index n = on.alpha.size(), rest = prior.cross.rows() - n;
  const auto own = prior.cross.topRows(n);
  at.product.resize(n + rest, prior.cross.cols());
  on.panels.Times(own, at.product);
  given.mean = prior.mean;
  given.mean.noalias() += own.transpose() * on.alpha;
  given.variance =
      (prior.variance - at.product.topRows(n).colwise().squaredNorm().transpose()).cwiseMax(kLeastLatentVariance);
  given.cross = prior.cross.bottomRows(rest) - at.product.bottomRows(rest);
}

void MomentPosterior::LinkCross(const MomentQueries& queries, const QueryMoments& below, int t, int l,
                                Passage& at) const {
  const LinkScalars& s = levels_[t].scalars;
  const Conditioned& to = levels_[t].links[l];
  CrossLinkKernel(s, at.rho_kernel, at.delta_kernel, queries.trend.bottomRows(s.trend > 0 ? below.cross.rows() : 0),
                  to.m, to.v, below.mean, below.variance, below.cross, at.link_kernel);
}

// The query's moments under level t's prior, from those of level t−1 given y_<t.
void MomentPosterior::Up(const MomentQueries& queries, const QueryMoments& below, int t, int l, Passage& at) const {
  const LinkScalars& s = levels_[t].scalars;
  const Conditioned& to = levels_[t].links[l];
  at.prior.cross = at.link_kernel.array() + to.prior_offset;
  at.prior.mean = s.rho * below.mean.array() + (1 - s.rho) * to.zero;
  at.prior.variance = LinkDiagonal(s, below.mean, below.variance, to.prior_offset);
  if (s.trend > 0) at.prior.variance += s.trend * queries.trend_diagonal;
}

void MomentPosterior::Begin(const MomentQueries& queries, int level, Workspace& workspace) const {
  workspace.levels.resize(levels_.size());
  first_->At(queries, workspace.inputs, workspace.levels[0].prior);
  Condition(levels_[0].links[0], workspace.levels[0]);
  for (int t = 1; t <= level; ++t) {
    const Level& to = levels_[t];
    Passage& at = workspace.levels[t];
    workspace.inputs = queries.x * to.rho_inverse.asDiagonal();
    CrossKernel(model_->recipe.kernel, 1, to.rho_inputs, workspace.inputs, at.rho_kernel);
    workspace.inputs = queries.x * to.delta_inverse.asDiagonal();
    CrossKernel(model_->recipe.kernel, 1, to.delta_inputs, workspace.inputs, at.delta_kernel);
  }
  // All links find the same below level 1.
  if (level > 0) LinkCross(queries, workspace.levels[0].given, 1, 0, workspace.levels[1]);
}

void MomentPosterior::Climb(const MomentQueries& queries, int level, int link, const std::vector<Index>& stay_below,
                            Workspace& workspace) const {
  for (int t = 1; t <= level; ++t) {
    const QueryMoments& below = workspace.levels[t - 1].given;
    if (t > 1) LinkCross(queries, below, t, link, workspace.levels[t]);
    Up(queries, below, t, link, workspace.levels[t]);
    if (const Index stay = stay_below.empty() ? 0 : stay_below[t]; stay > 0) {
      QueryMoments& prior = workspace.levels[t].prior;
      prior.cross.leftCols(stay) = levels_[t].scalars.rho * below.cross.leftCols(stay);
      prior.mean.head(stay) = below.mean.head(stay);
      prior.variance.head(stay) = below.variance.head(stay);
    }
    Condition(levels_[t].links[link], workspace.levels[t]);
  }
}

void MomentPosterior::Smooth(int level, int link, Workspace& workspace) const {
  for (int t = level + 1; t < static_cast<int>(levels_.size()); ++t) {
    const QueryMoments& below = workspace.levels[t - 1].given;
    QueryMoments& prior = workspace.levels[t].prior;
    prior.cross = levels_[t].scalars.rho * below.cross;
    prior.mean = below.mean;
    prior.variance = below.variance;
    Condition(levels_[t].links[link], workspace.levels[t]);
  }
}

void MomentPosterior::Predict(const MomentQueries& queries, int level, Workspace& workspace, MatrixRef mean,
                              MatrixRef variance) const {
  Begin(queries, level, workspace);
  for (int l = 0; l < links(); ++l) {
    Climb(queries, level, l, workspace);
    Smooth(level, l, workspace);
    mean.row(l) = workspace.levels.back().given.mean;
    variance.row(l) = workspace.levels.back().given.variance;
  }
}

MomentPosterior::Gaussians MomentPosterior::Predict(const Matrix& x, int level) const {
  Gaussians result{.mean = Matrix(links(), x.rows()), .variance = Matrix(links(), x.rows())};
  Workspace workspace;
  Predict(MomentQueries(*model_, x), level, workspace, result.mean, result.variance);
  return result;
}

}  // namespace fidelio
