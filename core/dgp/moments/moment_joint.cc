#include "core/dgp/moments/moment_joint.h"

#include <algorithm>

#include "core/kernel/link_kernel.h"
#include "core/kernel/stationary.h"
#include "core/linalg/product.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kPoints = 128;  // that pass through the levels together
constexpr Index kTile = 96;     // rows and columns: with some ten such matrices, the caches are full

}  // namespace

std::vector<JointTile> JointTiles(Index n, Index m, bool lower) {
  std::vector<JointTile> tiles;
  for (Index column = 0; column < m; column += kTile) {
    for (Index row = lower ? column : 0; row < n; row += kTile) {
      tiles.push_back({row, std::min(kTile, n - row), column, std::min(kTile, m - column)});
    }
  }
  return tiles;
}

MomentJoint::MomentJoint(const MomentPosterior& posterior, const MomentQueries& queries, const std::vector<int>& levels)
    : posterior_(posterior),
      queries_(queries),
      below_(posterior.levels_.size()),
      inputs_(posterior.levels_.size()),
      passed_(posterior.levels_.size()) {
  const size_t all = posterior_.levels_.size();
  const Index n = queries_.x.rows();
  for (size_t t = 0; t < all; ++t) {
    const MomentPosterior::Level& level = posterior_.levels_[t];
    below_[t] = std::lower_bound(levels.begin(), levels.end(), static_cast<int>(t)) - levels.begin();
    passed_[t].resize(level.links.size());
    for (size_t l = 0; l < level.links.size(); ++l) {
      passed_[t][l] = {.mean = Vector(n), .variance = Vector(n), .explained = Matrix(level.links[l].alpha.size(), n)};
    }
    if (t == 0) continue;
    inputs_[t] = {.rho = queries_.x * level.rho_inverse.asDiagonal(),
                  .delta = queries_.x * level.delta_inverse.asDiagonal()};
  }
  posterior_.first_->Inputs(queries_.x, first_);

  const int highest = levels.empty() ? 0 : levels.back();
  MomentPosterior::Workspace workspace;
  std::vector<Index> stay(all);
  for (Index begin = 0; begin < n; begin += kPoints) {
    const Index size = std::min(kPoints, n - begin);
    const MomentQueries part = queries_.Rows(begin, size);
    for (size_t t = 0; t < all; ++t) stay[t] = std::clamp<Index>(below_[t] - begin, 0, size);
    posterior_.Begin(part, highest, workspace);
    for (int l = 0; l < links(); ++l) {
      posterior_.Climb(part, highest, l, stay, workspace);
      posterior_.Smooth(highest, l, workspace);
      for (size_t t = 0; t < all; ++t) {
        if (t == 0 && l > 0) continue;
        Passed& to = passed_[t][l];
        to.mean.segment(begin, size) = workspace.levels[t].given.mean;
        to.variance.segment(begin, size) = workspace.levels[t].given.variance;
        to.explained.middleCols(begin, size) = workspace.levels[t].product.topRows(to.explained.rows());
      }
    }
  }
}

Index MomentJoint::Range::Climbing(size_t t) const { return size - std::clamp<Index>(of.below_[t] - begin, 0, size); }

void MomentJoint::KernelsAt(size_t t, const Range& a, const Range& b, Scratch& scratch) {
  const MomentPosterior& posterior = a.of.posterior_;
  const MomentModel& model = *posterior.model_;
  const Index climb_a = a.Climbing(t), climb_b = b.Climbing(t);
  const Index end_a = a.begin + a.size, end_b = b.begin + b.size;
  scratch.a = a.of.inputs_[t].rho.middleRows(end_a - climb_a, climb_a);
  scratch.b = b.of.inputs_[t].rho.middleRows(end_b - climb_b, climb_b);
  CrossKernel(model.recipe.kernel, 1, scratch.a, scratch.b, scratch.rho[t]);
  scratch.a = a.of.inputs_[t].delta.middleRows(end_a - climb_a, climb_a);
  scratch.b = b.of.inputs_[t].delta.middleRows(end_b - climb_b, climb_b);
  CrossKernel(model.recipe.kernel, 1, scratch.a, scratch.b, scratch.delta[t]);
  scratch.trend[t].resize(0, 0);
  if (posterior.levels_[t].scalars.trend > 0) {
    scratch.trend[t] = model.TrendKernel(a.of.queries_.x.middleRows(end_a - climb_a, climb_a),
                                         b.of.queries_.x.middleRows(end_b - climb_b, climb_b));
  }
}

void MomentJoint::LinkAbove(size_t t, int link, const Range& a, const Range& b, const Matrix& c, const Scratch& scratch,
                            Matrix& k) {
  const Passed& below_a = a.of.passed_[t - 1][LinkAt(t - 1, link)];
  const Passed& below_b = b.of.passed_[t - 1][LinkAt(t - 1, link)];
  const Index first_a = a.begin + a.size - c.rows(), first_b = b.begin + b.size - c.cols();
  CrossLinkKernel(a.of.posterior_.levels_[t].scalars, scratch.rho[t], scratch.delta[t], scratch.trend[t],
                  below_a.mean.segment(first_a, c.rows()), below_a.variance.segment(first_a, c.rows()),
                  below_b.mean.segment(first_b, c.cols()), below_b.variance.segment(first_b, c.cols()), c, k);
}

void MomentJoint::Condition(size_t t, int link, const Range& a, const Range& b, Matrix& covariance) {
  const Passed& at_a = a.of.passed_[t][LinkAt(t, link)];
  const Passed& at_b = b.of.passed_[t][LinkAt(t, link)];
  if (at_a.explained.rows() > 0) {
    Multiply({}, -1, at_a.explained.middleCols(a.begin, a.size).transpose(), at_b.explained.middleCols(b.begin, b.size),
             Write::kAdd, covariance);
  }
  if (&a.of != &b.of) return;
  for (Index i = std::max(a.begin, b.begin); i < std::min(a.begin + a.size, b.begin + b.size); ++i) {
    covariance(i - a.begin, i - b.begin) = at_a.variance[i];
  }
}

void MomentJoint::Block(const JointTile& tile, const MomentJoint& other, const std::vector<bool>& wanted,
                        Scratch& scratch) const {
  const auto [row, rows, column, columns] = tile;
  const Range a{.of = *this, .begin = row, .size = rows}, b{.of = other, .begin = column, .size = columns};
  const size_t all = passed_.size();
  scratch.covariance.resize(links());
  scratch.rho.resize(all);
  scratch.delta.resize(all);
  scratch.trend.resize(all);

  posterior_.first_->Between({.of = queries_, .inputs = first_, .begin = row, .size = rows},
                             {.of = other.queries_, .inputs = other.first_, .begin = column, .size = columns},
                             scratch.first);
  Condition(0, 0, a, b, scratch.first);
  for (size_t t = 1; t < all; ++t) KernelsAt(t, a, b, scratch);
  if (all > 1) {  // which all links share
    scratch.c = scratch.first.bottomRightCorner(a.Climbing(1), b.Climbing(1));
    LinkAbove(1, 0, a, b, scratch.c, scratch, scratch.first_link);
  }
  for (int l = 0; l < links(); ++l) {
    if (!wanted[l]) continue;
    Matrix& covariance = scratch.covariance[l];
    covariance = scratch.first;
    for (size_t t = 1; t < all; ++t) {
      const Index climb_a = a.Climbing(t), climb_b = b.Climbing(t), stay_a = rows - climb_a, stay_b = columns - climb_b;
      if (climb_a > 0 || climb_b > 0) {
        const MomentPosterior::Level& level = posterior_.levels_[t];
        if (t > 1) {
          scratch.c = covariance.bottomRightCorner(climb_a, climb_b);
          LinkAbove(t, l, a, b, scratch.c, scratch, scratch.link);
        }
        covariance.bottomLeftCorner(climb_a, stay_b) *= level.scalars.rho;
        covariance.topRightCorner(stay_a, climb_b) *= level.scalars.rho;
        covariance.bottomRightCorner(climb_a, climb_b) =
            (t > 1 ? scratch.link : scratch.first_link).array() + level.links[l].prior_offset;
      }
      Condition(t, l, a, b, covariance);
    }
  }
}

void MomentJoint::Under(int link, Vector& mean, Matrix& covariance) const {
  const Index n = queries_.x.rows();
  mean = this->mean(link);
  covariance.resize(n, n);
  std::vector<bool> wanted(links());
  wanted[link] = true;
  Scratch scratch;
  for (const JointTile& tile : JointTiles(n, n, /*lower=*/true)) {
    Block(tile, *this, wanted, scratch);
    covariance.block(tile.row, tile.column, tile.rows, tile.columns) = scratch.covariance[link];
  }
  covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();
}

}  // namespace fidelio
