// The chains of a search over several modes: how many each mode gets, which mode a chain has sampled, and how well.
//
// Modes of the same structure are regions of one density. A chain that wanders from its mode into the region of another
// samples that one: its draws count there. A mode that all its chains have left is not counted a second time: the region
// that they moved to gets the larger of both weights, since the two are parts of one mass. A chain belongs where most of
// its points lie.
#ifndef FIDELIO_CORE_FIT_MODE_CHAINS_H_
#define FIDELIO_CORE_FIT_MODE_CHAINS_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/fit/search_state.h"
#include "core/optim/hmc.h"
#include "core/optim/light_tails.h"

namespace fidelio {

inline constexpr int kChainsPerMode = 2;  // at least: R̂ compares them

// Where the chains of a mode move.
class SamplingSpace {
 public:
  SamplingSpace(LightTails light, HmcSpace space) : tails(std::move(light)), whitened(std::move(space)) {}

  LightTails tails;
  HmcSpace whitened;  // of the coordinates with light tails

  Vector Point(const HmcState& state) const { return tails.Z(Light(state)); }
  double Value(const HmcState& state) const { return state.value + tails.LogSlopes(Light(state)); }  // −log p(Point)

 private:
  Vector Light(const HmcState& state) const { return whitened.origin + whitened.basis * state.q; }
};

// Of a mode z with that Hessian; `inverse_shapes` as in LightTails.
absl::StatusOr<SamplingSpace> SpaceForSampling(const Vector& inverse_shapes, const Vector& z, const Matrix& hessian);

struct ChainsReport {
  // Per chain: the mode that it has sampled, where most of its points lie by the Gaussians times evidence of the modes with a weight.
  std::vector<int> region;
  Vector weight;     // per mode, summing to 1: 0 where all chains have left
  int moved = 0;     // chains in the region of another mode
  double r_hat = 0;  // the largest of all modes and parameters; 0: unknown, as where a mode has too few transitions
  double effective_size =
      0;  // 1/Σ w²/n of modes with weights w and sizes n, each the smallest of all parameters; 0: unknown
};

// kChainsPerMode for every mode with a weight, further ones up to `chains` where the weight per chain is largest.
std::vector<SearchChain> AllotChains(int chains, const std::vector<SearchMode>& modes);

// Of modes with Hessians. A mode whose chains have no transitions yet keeps its weight.
absl::StatusOr<ChainsReport> ReportChains(const std::vector<SearchChain>& chains, const std::vector<SearchMode>& modes);

// A point of the density that one mode belongs to; weights sum to 1.
struct WeightedPoint {
  int mode = 0;
  double weight = 0;
  Vector z;
};

// Points of the chains for every mode with a weight, about `draws` of all modes, evenly spaced. A mode without any,
// because the chains have none yet, stands in for them itself. Empty without chains.
std::vector<WeightedPoint> PointsOfModes(const std::vector<SearchChain>& chains, const std::vector<SearchMode>& modes,
                                         const ChainsReport& report, int draws);

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_MODE_CHAINS_H_
