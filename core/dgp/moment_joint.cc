#include "core/dgp/moment_joint.h"

#include <algorithm>

#include "core/kernel/stationary.h"
#include "core/linalg/packed.h"
#include "core/linalg/product.h"

namespace fidelio {

using Eigen::Index;

MomentJoint::MomentJoint(const MomentPosterior& posterior, const MomentQueries& queries, const std::vector<int>& levels)
    : posterior_(posterior),
      queries_(queries),
      below_(posterior.levels_.size()),
      level_(levels.empty() ? 0 : levels.back()) {
  for (size_t t = 0; t < below_.size(); ++t) {
    below_[t] = std::lower_bound(levels.begin(), levels.end(), static_cast<int>(t)) - levels.begin();
  }
  posterior_.Begin(queries_, level_, workspace_);
  for (int t = 1; t <= level_; ++t) inputs_.push_back(Inputs(t));
  first_ = First();
  if (level_ == 0) return;
  RunLink(1, first_);
  first_link_pairs_ = link_.pairs();
}

Matrix MomentJoint::First() const {
  const MomentModel& model = *posterior_.model_;
  if (model.recipe.given_first) {
    Matrix given = queries_.first.covariance;
    Condition(0, given);
    return given;
  }
  Matrix inputs;
  model.FirstInputs(posterior_.theta_, queries_.x, inputs);
  Eigen::ArrayXd pairs;
  PairDistances(inputs, pairs);
  EvaluateRadial(model.recipe.kernel, pairs, nullptr);
  Matrix covariance(inputs.rows(), inputs.rows());
  UnpackLower(pairs, workspace_.levels[0].prior.variance, posterior_.first_amplitude_, covariance);
  if (posterior_.first_trend_ > 0) {
    covariance.triangularView<Eigen::StrictlyLower>() +=
        posterior_.first_trend_ * model.TrendKernel(queries_.x, queries_.x);
  }
  Condition(0, covariance);
  return covariance;
}

LinkInputs MomentJoint::Inputs(int t) const {
  const MomentModel& model = *posterior_.model_;
  const MomentPosterior::Level& level = posterior_.levels_[t];
  LinkInputs inputs;
  PairDistances(queries_.x * level.rho_inverse.asDiagonal(), inputs.rho_kernel);
  EvaluateRadial(model.recipe.kernel, inputs.rho_kernel, nullptr);
  PairDistances(queries_.x * level.delta_inverse.asDiagonal(), inputs.delta_kernel);
  EvaluateRadial(model.recipe.kernel, inputs.delta_kernel, nullptr);
  if (level.scalars.trend > 0) PackPairs(model.TrendKernel(queries_.x, queries_.x), 1, inputs.trend);
  return inputs;
}

void MomentJoint::RunLink(int t, const Matrix& below) {
  const MomentPosterior::Query& given = workspace_.levels[t - 1].given;
  PackPairs(below, 1, pairs_);
  link_.Forward(posterior_.levels_[t].scalars, inputs_[t - 1], queries_.trend_diagonal, given.mean, given.variance,
                pairs_);
}

void MomentJoint::Condition(int t, Matrix& covariance) const {
  const MomentPosterior::Passage& at = workspace_.levels[t];
  const auto explained = at.product.topRows(posterior_.levels_[t].links[0].alpha.size());
  if (explained.rows() > 0) {
    Multiply({.c = Part::kLower}, -1, explained.transpose(), explained, Write::kAdd, covariance);
  }
  covariance.diagonal() = at.given.variance;
}

void MomentJoint::Under(int link, Vector& mean, Matrix& covariance) {
  posterior_.Climb(queries_, level_, link, below_, workspace_);
  posterior_.Smooth(level_, link, workspace_);
  covariance = first_;
  for (int t = 1; t <= level_; ++t) {
    if (t > 1) RunLink(t, covariance);
    pairs_ = (t > 1 ? link_.pairs() : first_link_pairs_) + posterior_.levels_[t].links[link].prior_offset;
    const Index stay = below_[t], climb = covariance.rows() - stay;
    const Matrix between = posterior_.levels_[t].scalars.rho * covariance.bottomLeftCorner(climb, stay);
    const Matrix within = covariance.topLeftCorner(stay, stay);
    UnpackLower(pairs_, workspace_.levels[t].prior.variance, 1, covariance);
    covariance.topLeftCorner(stay, stay) = within;
    covariance.bottomLeftCorner(climb, stay) = between;
    Condition(t, covariance);
  }
  for (int t = level_ + 1; t < static_cast<int>(posterior_.levels_.size()); ++t) Condition(t, covariance);
  covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();
  mean = workspace_.levels.back().given.mean;
}

}  // namespace fidelio
