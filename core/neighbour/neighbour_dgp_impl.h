// The inside of a NeighbourDgp: what it is made of, and how it is built.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_IMPL_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_IMPL_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/data/scaled_data.h"
#include "core/dgp/moments/moment_joint.h"
#include "core/dgp/moments/moment_posterior.h"
#include "core/dgp/moments/moment_target.h"
#include "core/emulator/inflation.h"
#include "core/emulator/mixture.h"
#include "core/neighbour/neighbour_dgp.h"
#include "core/neighbour/neighbour_stack.h"

namespace fidelio {

// A layer of the stack, as a fit found it.
struct NeighbourLayer {
  KernelFamily kernel = KernelFamily::kRbf;
  Vector theta;
};

// The levels of `data` that a stack takes: from 0 up to the highest large one, and at least level 0.
int StackedLevels(const Dataset& data);

// How many centres at most a stack of these data has (LowRankFor).
int StackCentres(const Dataset& data);

// A level of `data` as the stack sees it.
NeighbourData ScaledLevel(const LevelData& level, const Scaling& scaling);

// The levels above the stack: their points, and what the stack says about them.
class UpperPoints {
 public:
  // `stack` is complete and outlives this; `data` has `stack.levels()` levels in it and those above.
  UpperPoints(const NeighbourStack& stack, const Dataset& data, const Scaling& scaling, int threads);

  // Level 0, without data, stands for the stack; then the levels above it.
  const ScaledData& data() const { return data_; }

  // A model of these points, or of those that `rows`, ascending, names.
  std::shared_ptr<const MomentModel> Model(const Recipe& recipe) const;
  std::shared_ptr<const MomentModel> Model(const Recipe& recipe, const std::vector<int>& rows) const;

  // Of points that share a neighbour with a stencil of the stack's highest level.
  std::vector<int> Near(const Stencil& stencil) const { return shared_->Of(stencil, static_cast<int>(sites_.size())); }
  const std::vector<Site>& sites() const { return sites_; }
  const Matrix& spreads() const { return spreads_; }  // of the sites, one column each; no rows without a LowRankPart

 private:
  ScaledData data_;
  Matrix points_;  // D×n: inputs, one column each
  std::vector<std::vector<Stencil>> stencils_;
  std::vector<Site> sites_;
  Matrix spreads_;
  std::unique_ptr<const SharedNeighbours> shared_;
  GivenMoments moments_;
};

// The spreads (Stencil) of points that have reached `level`, one column each; no rows where it has no LowRankPart.
Matrix Spreads(int level, const std::vector<Site>& sites);

// The covariance matrix of points that have reached `level`.
Matrix JointCovariance(const NeighbourStack& stack, int level, const std::vector<Site>& sites, int threads);

struct NeighbourDgp::Impl {
  Dataset data;
  FitReport report;
  Scaling scaling;
  std::unique_ptr<const NeighbourStack> stack;
  std::unique_ptr<const UpperPoints> upper;  // none: the stack has all levels
  std::vector<std::shared_ptr<const MomentModel>> structures;
  std::vector<MomentDraw> draws;
  std::vector<MomentPosterior> posteriors;  // one per draw
  // Variances of the top level are multiplied by this (core/emulator/inflation.h).
  Inflation inflation;
  // Per level: mean of the given noise variances, 0 where none is given; divided by the inflation, which then leaves them as given.
  std::vector<double> given_noise;

  static std::unique_ptr<const NeighbourStack> BuildStack(const Dataset& data, const Scaling& scaling, int neighbours,
                                                          int centres, const std::vector<NeighbourLayer>& layers,
                                                          int threads);

  // Builds the posteriors of all draws, at the recipes of their structures; draws that can't be factorised are left out.
  // With `before`, the model of which these are the draws, their weights change by what the data since tell about them.
  static absl::StatusOr<std::unique_ptr<Impl>> Build(Dataset data, const Scaling& scaling,
                                                     std::unique_ptr<const NeighbourStack> stack,
                                                     const std::vector<Recipe>& recipes, std::vector<MomentDraw> draws,
                                                     const FitReport& report, int threads,
                                                     const Impl* before = nullptr);

  int stacked() const { return stack->levels(); }
  int levels() const { return static_cast<int>(data.levels.size()); }
  std::vector<NeighbourLayer> layers() const;
  std::vector<Recipe> recipes() const;
  ObservedMixtures LeftOut(int level) const {
    return level < stacked() ? LeftOutOfStack(level) : LeftOutOfUpper(level);
  }
  LeaveOneOut LeftOutAtTop() const { return Summarise(LeftOut(levels() - 1)); }
  Inflation InflationBefore3() const;  // as programs computed it that wrote version 2
  void Inflate(const Inflation& by);   // once
  double InflationAt(int level) const { return level + 1 == levels() ? inflation.factor : 1; }
  double NoiseAt(int level, size_t draw) const;  // learned variance, in the user's units

  // Whether the levels above the stack have a say in predictions of `level`: those, and the stack's highest.
  bool IsUpper(int level) const { return upper != nullptr && level + 1 >= stacked(); }
  int OwnLevel(int level) const { return level + 1 - stacked(); }  // of the structures

  // The Gaussians at a level, draw by draw and link by link: their weights.
  Vector Weights(int level) const;

  // Some query points, what the stack says about them, and, for a level of which IsUpper holds, how the structures see them.
  struct Queries {
    Matrix x;        // scaled, one row each
    Matrix columns;  // its transpose
    std::vector<std::vector<Stencil>> stencils;
    std::vector<Site> sites;
    std::vector<std::vector<int>> near;  // per point: the upper points with which it has a covariance
    std::vector<MomentQueries> seen;     // per structure
  };
  Queries Query(const Matrix& x, int level, int threads) const;

  // Predictions at such queries, in the user's units.
  Mixture PredictMixture(const Queries& queries, int level, bool include_noise,
                         MomentPosterior::Workspace& workspace) const;
  // Given ∂F/∂ the means and variances of that mixture: ∂F/∂x.
  Matrix Gradient(const Queries& queries, int level, Matrix mean_bar, Matrix variance_bar,
                  MomentPosterior::Workspace& workspace) const;

  // body(first row, queries, a workspace) for the rows of x, some at a time.
  using BlockBody =
      std::function<void(Eigen::Index begin, const Queries& queries, MomentPosterior::Workspace& workspace)>;
  void ForBlocks(const Matrix& x, int level, int threads, const BlockBody& body) const;

  // body(k, mean, covariance) for every Gaussian k of Weights(top) at points of ascending levels up to `top`, in the
  // user's units, one at a time. `check` is asked between them.
  using JointBody = std::function<absl::Status(Eigen::Index component, Vector& mean, Matrix& covariance)>;
  absl::Status ForJoint(const Matrix& x, const std::vector<int>& levels, bool include_noise, int threads,
                        const std::function<absl::Status()>& check, const std::function<bool(Eigen::Index)>& wanted,
                        const JointBody& body) const;

  ObservedMixtures LeftOutOfStack(int level) const;
  ObservedMixtures LeftOutOfUpper(int level) const;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_IMPL_H_
