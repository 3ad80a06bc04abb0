// NeighbourDgpPosterior: what an MF-DGP with neighbour layers (neighbour_dgp.h) knows after a fit: a NeighbourStack, and a
// MomentMixture of the levels above it, whose layer 1 the stack gives.
//
// One Gaussian at the stack's levels below its highest, and without levels above it; one per draw and link else. Joint moments take
// different levels of the stack below its highest as independent.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_POSTERIOR_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_POSTERIOR_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/dgp/moments/moment_mixture.h"
#include "core/emulator/posterior.h"
#include "core/neighbour/neighbour_dgp.h"
#include "core/neighbour/neighbour_stack.h"
#include "core/neighbour/upper_points.h"

namespace fidelio {

// At most this many observations of a level of the stack are left out one by one, evenly chosen from all.
inline constexpr int kMostLeftOutOfStack = 1000;

// What is learned.
struct NeighbourDgpParameters {
  int neighbours = kDefaultNeighbours, centres = 0;
  std::vector<NeighbourLayer> layers;  // of the stack
  std::vector<Recipe> recipes;         // of the levels above, as the draws
  std::vector<MomentDraw> draws;
};

class NeighbourDgpPosterior final : public Posterior {
 public:
  // Draws that can't be factorised are left out. With `before`, the posterior of these draws given fewer data, their weights change
  // by what the data since tell about them. Takes the time to build trees of the observations: about a second for a million.
  static absl::StatusOr<std::unique_ptr<const NeighbourDgpPosterior>> Build(
      const Dataset& data, const Scaling& scaling, const NeighbourDgpParameters& parameters, int threads,
      const NeighbourDgpPosterior* before = nullptr);
  // With the stack of these parameters' layers.
  static absl::StatusOr<std::unique_ptr<const NeighbourDgpPosterior>> Build(
      const Dataset& data, const Scaling& scaling, std::unique_ptr<const NeighbourStack> stack,
      const std::vector<Recipe>& recipes, const std::vector<MomentDraw>& draws, int threads,
      const NeighbourDgpPosterior* before = nullptr);

  NeighbourDgpParameters parameters() const;
  int stacked() const { return stack_->levels(); }
  const NeighbourStack& stack() const { return *stack_; }
  const UpperPoints* upper() const { return upper_.get(); }                         // null: the stack has all levels
  const MomentMixture* mixture() const { return mixture_ ? &*mixture_ : nullptr; }  // of the levels above

  // Whether the levels above the stack affect predictions of `level`: those do, and the stack's highest.
  bool IsUpper(int level) const { return mixture_ && level + 1 >= stacked(); }
  int OwnLevel(int level) const { return level + 1 - stacked(); }  // of the mixture
  int Reached(int level) const { return std::min(level, stacked() - 1); }

  Vector Weights(int level) const override;
  Vector Noise(int level) const override;
  // The neighbours of an input count as fixed in gradients.
  std::unique_ptr<Block> At(Matrix x, int level) const override;
  absl::StatusOr<JointGaussian> Joint(const Matrix& x, const std::vector<int>& levels,
                                      const JointOptions& options) const override;
  absl::StatusOr<Matrix> Sample(const Matrix& x, int level, const SampleRequest& request) const override;
  std::unique_ptr<const Functions> Draw(const PathOptions& options) const override;
  absl::StatusOr<LeftOut> LeaveOneOut(const FittedState& state, int level, int threads) const override;
  absl::StatusOr<std::unique_ptr<const Posterior>> Condition(const FittedState& before, const Dataset& data,
                                                             int threads) const override;
  std::string Save(const FittedState& state) const override;
  uint32_t checkpoint_kind() const override { return kNeighbourDgpKind; }
  void Describe(FitReport& report) const override;
  int64_t MemoryBytes(const Dataset& data) const override;

 private:
  std::unique_ptr<const NeighbourStack> stack_;
  std::unique_ptr<const UpperPoints> upper_;
  std::optional<MomentMixture> mixture_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_DGP_POSTERIOR_H_
