#include "core/neighbour/upper_points.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/parallel.h"
#include "core/neighbour/neighbour_dgp.h"

namespace fidelio {

using Eigen::Index;

int StackedLevels(const Dataset& data) {
  int stacked = 1;
  for (size_t t = 1; t < data.levels.size(); ++t) {
    if (data.levels[t].y.size() > kLargeLevel) stacked = static_cast<int>(t) + 1;
  }
  return stacked;
}

int StackCentres(const Dataset& data) {
  std::vector<int> counts;
  for (int t = 0; t < StackedLevels(data); ++t) counts.push_back(static_cast<int>(data.levels[t].y.size()));
  return LowRankFor(data.dimension(), counts);
}

NeighbourData ScaledLevel(const LevelData& level, const Scaling& scaling) {
  NeighbourData scaled;
  scaled.x.resize(scaling.input_low.size(), level.y.size());
  for (Index d = 0; d < scaled.x.rows(); ++d) {
    if (level.y.size() == 0) break;
    scaled.x.row(d) = (level.x.col(d).array() - scaling.input_low[d]) / scaling.input_width[d];
  }
  scaled.y = (level.y.array() - scaling.output_mean) / scaling.output_sd;
  scaled.noise = level.noise_variance / scaling.output_sd / scaling.output_sd;
  return scaled;
}

Matrix Spreads(int level, const std::vector<ReachedPoint>& points) {
  const Index rank = points.empty() ? 0 : points[0].at[level].spread.size();
  Matrix spreads(rank, static_cast<Index>(points.size()));
  for (size_t i = 0; rank > 0 && i < points.size(); ++i)
    spreads.col(static_cast<Index>(i)) = points[i].at[level].spread;
  return spreads;
}

Matrix JointCovariance(const NeighbourStack& stack, int level, const std::vector<ReachedPoint>& points, int threads) {
  const int n = static_cast<int>(points.size());
  const SharedNeighbours shared(level, points);
  // The low-rank part is shared by all.
  const Matrix spreads = Spreads(level, points);
  Matrix covariance = spreads.transpose() * spreads;
  ParallelFor(n, threads, [&](int i) {
    std::vector<ReachedPoint> others;
    const std::vector<int> near = shared.Of(points[i].at[level], i);
    for (const int j : near) others.push_back(points[j]);
    const Matrix row = stack.Covariance(level, {&points[i], 1}, others);
    for (size_t k = 0; k < near.size(); ++k) covariance(i, near[k]) = row(0, static_cast<Index>(k));
    covariance(i, i) = points[i].at[level].variance;
  });
  covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();
  return covariance;
}

UpperPoints::UpperPoints(const NeighbourStack& stack, const Dataset& data, const Scaling& scaling, int threads) {
  Dataset upper;
  upper.levels.emplace_back().x.resize(0, data.dimension());
  upper.levels.insert(upper.levels.end(), data.levels.begin() + stack.levels(), data.levels.end());
  data_ = ScaleData(upper, 0, scaling);
  data_.learn_noise[0] = false;
  const int n = static_cast<int>(data_.y.size()), level = stack.levels() - 1;
  const Matrix columns = data_.x.transpose();
  stencils_.resize(n);
  reached_.resize(n);
  ParallelFor(n, threads, [&](int i) { stencils_[i] = stack.Reach(columns.col(i).data(), level); });
  Vector mean(n);
  points_ = columns;
  for (int i = 0; i < n; ++i) {
    reached_[i] = {points_.col(i).data(), stencils_[i].data()};
    mean[i] = stencils_[i][level].mean;
  }
  spreads_ = Spreads(level, reached_);
  shared_ = std::make_unique<const SharedNeighbours>(level, reached_);
  given_ = std::make_shared<const GivenLayer>(std::move(mean), JointCovariance(stack, level, reached_, threads));
}

std::shared_ptr<const MomentModel> UpperPoints::Model(const Recipe& recipe) const {
  return std::make_shared<const MomentModel>(data_, recipe, given_);
}

std::shared_ptr<const MomentModel> UpperPoints::Model(const Recipe& recipe, const std::vector<int>& rows) const {
  ScaledData some = data_;
  some.x = data_.x(rows, Eigen::all);
  some.y = data_.y(rows);
  some.noise = data_.noise(rows);
  for (size_t t = 0; t < some.offset.size(); ++t) {
    some.offset[t] = static_cast<int>(std::lower_bound(rows.begin(), rows.end(), data_.offset[t]) - rows.begin());
  }
  return std::make_shared<const MomentModel>(std::move(some), recipe,
                                             std::make_shared<const GivenLayer>(given_->Of(rows)));
}

}  // namespace fidelio
