// UpperPoints: the observations of the levels above a NeighbourStack, and what the stack says about them: mean and covariance of its
// highest level, O(n²) for n of them. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_NEIGHBOUR_UPPER_POINTS_H_
#define FIDELIO_CORE_NEIGHBOUR_UPPER_POINTS_H_

#include <memory>
#include <vector>

#include "core/data/scaled_data.h"
#include "core/dgp/moments/moment_model.h"
#include "core/neighbour/neighbour_stack.h"

namespace fidelio {

// The levels of `data` that a stack takes: from 0 up to the highest large one, and at least level 0.
int StackedLevels(const Dataset& data);

// How many centres at most a stack of these data has (LowRankFor).
int StackCentres(const Dataset& data);

// A level of `data` as the stack sees it.
NeighbourData ScaledLevel(const LevelData& level, const Scaling& scaling);

class UpperPoints {
 public:
  // `stack` is complete and outlives this; `data` has `stack.levels()` levels in it and those above.
  UpperPoints(const NeighbourStack& stack, const Dataset& data, const Scaling& scaling, int threads);

  // Level 0, without data, stands for the stack; then the levels above it.
  const ScaledData& data() const { return data_; }

  // Where the hyperparameters of such a model are.
  static MomentLayout Layout(const Recipe& recipe, int dimension, const std::vector<bool>& learn_noise) {
    return {recipe, dimension, learn_noise, /*learn_first=*/false};
  }
  // A model of these points, or of those that `rows`, ascending, names.
  std::shared_ptr<const MomentModel> Model(const Recipe& recipe) const;
  std::shared_ptr<const MomentModel> Model(const Recipe& recipe, const std::vector<int>& rows) const;

  // Of points that share a neighbour with a stencil of the stack's highest level.
  std::vector<int> Near(const Stencil& stencil) const {
    return shared_->Of(stencil, static_cast<int>(reached_.size()));
  }
  const std::vector<ReachedPoint>& reached() const { return reached_; }
  const Matrix& spreads() const { return spreads_; }  // one column per point; no rows without a LowRankPart

 private:
  ScaledData data_;
  Matrix points_;  // D×n: inputs, one column each
  std::vector<std::vector<Stencil>> stencils_;
  std::vector<ReachedPoint> reached_;
  Matrix spreads_;
  std::unique_ptr<const SharedNeighbours> shared_;
  std::shared_ptr<const GivenLayer> given_;  // what the stack says about them
};

// The spreads (Stencil) of points that have reached `level`, one column each; no rows where it has no LowRankPart.
Matrix Spreads(int level, const std::vector<ReachedPoint>& points);

// The covariance matrix of points that have reached `level`.
Matrix JointCovariance(const NeighbourStack& stack, int level, const std::vector<ReachedPoint>& points, int threads);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_UPPER_POINTS_H_
