// NeighbourStack: the levels with many observations, each a Gaussian process that looks at the m nearest of them only
// (Vecchia's approximation; a nearest-neighbour Gaussian process).
//
// Level 0:   f_0 ~ GP(μ, v·κ).   Level t: f_t = ρ f_{t−1} + g_t, whose prior covariance K_t comes from mean, variance and
// covariance of f_{t−1} given the data below by moment matching (core/kernel/link_kernel.h). With S the m nearest observations
// of level t to x, in inputs divided by the lengthscales, and w = (K_t(S,S) + noise)⁻¹ K_t(S,x):
//
//   mean      prior mean(x) + wᵀ (y_S − prior mean(S))
//   variance  K_t(x,x) − wᵀ K_t(S,x)
//   cov       c(x,x') · |S ∩ S'| / √(|S||S'|),     c(x,x') = cov(e(x), e(x')),   e(x) = f_t(x) − wᵀ y_S
//
// c is the covariance of the errors which these predictions make, a quadratic form in K_t and the noise; the second factor is
// the Gram matrix of the neighbourhoods. Both are positive semi-definite, hence so is their product; it vanishes between
// points without a neighbour in common, which makes everything local. Limits: m = N gives the exact Gaussian process;
// far from all data, the prior's mean and variance. One point costs O(m³) time; memory is O(N·(D + m·t)). Nothing N×N is ever
// held.
//
// With `centres`, level 0 has a LowRankPart, and K_0, w, c are those of what that leaves. With h(x) = φ(x) − Φ_S w, the
// low-rank part v adds hᵀE[v] to means and hᵀcov(v)h' to covariances, of all pairs of points.
//
// Everything is in standardised units (core/data/scaled_data.h). Once its layers are added it is immutable, and safe to share
// between threads.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_STACK_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_STACK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/types.h"
#include "core/kernel/kernel_family.h"
#include "core/neighbour/low_rank_part.h"
#include "core/neighbour/neighbour_index.h"
#include "core/neighbour/neighbour_parameters.h"

namespace fidelio {

// A layer of the stack, as a fit found it.
struct NeighbourLayer {
  KernelFamily kernel = KernelFamily::kRbf;
  Vector theta;
};
template <typename Bytes>
void Fields(Bytes& bytes, NeighbourLayer& layer) {
  bytes(layer.kernel, layer.theta);
}

// What a level of the stack says about one point: its neighbours there, their weights, and the moments.
struct Stencil {
  std::vector<int> index;  // ascending
  Vector weight;
  double mean = 0, variance = 0;
  double jitter = 0;        // relative, that the covariance of the neighbours needed
  Vector features, spread;  // where the level has a LowRankPart: φ(x), and its Spread(h)
};

// A point with its stencils at the levels below some level.
struct ReachedPoint {
  const double* x = nullptr;    // D
  const Stencil* at = nullptr;  // at[t], t = 0, 1, …; equal pointers are the same point
};

// ∂F/∂ the moments of a point at a level, and ∂F/∂cov(f(x), f(q)) for some other points.
struct MomentAdjoints {
  double mean = 0, variance = 0;
  std::vector<ReachedPoint> others;
  Vector covariance;
  // ∂F/∂spread by covariances with further points, of which `others` has those with common neighbours only; empty: `others`
  // are all.
  Vector spread = {};
};

// The observations of a level, in standardised units.
struct NeighbourData {
  Matrix x;      // D×N: one column per point
  Vector y;      // N
  Vector noise;  // N, given variances; empty: learned
};

class NeighbourStack {
 public:
  // m ≥ 1; at most `centres` of a LowRankPart, 0: none.
  explicit NeighbourStack(int neighbours, int centres = 0) : neighbours_(neighbours), centres_(centres) {}

  int neighbours() const { return neighbours_; }
  int centres() const { return centres_; }
  int levels() const { return static_cast<int>(layers_.size()); }
  int count(int level) const { return static_cast<int>(layers_[level].data.y.size()); }
  const NeighbourData& data(int level) const { return layers_[level].data; }
  KernelFamily kernel(int level) const { return layers_[level].kernel; }
  const Vector& theta(int level) const { return layers_[level].theta; }
  double noise(int level) const { return layers_[level].parameters->noise; }

  // Adds the data of the next level, and finds out what the levels below say about its points. It has a layer only once it
  // was Completed.
  void AddData(NeighbourData data, int threads);
  // The layer of the last level: its kernel and hyperparameters (NeighbourLayout).
  void Complete(KernelFamily kernel, Vector theta, int threads = 1);

  bool learns_noise(int level) const { return layers_[level].data.noise.size() == 0; }
  NeighbourLayout layout(int level) const;

  // An observed point of a level, with its stencils below that level.
  ReachedPoint Observed(int level, int i) const {
    return {layers_[level].data.x.col(i).data(), layers_[level].below.data() + static_cast<size_t>(i) * level};
  }

  // The stencils of x at levels 0 … level.
  std::vector<Stencil> Reach(const double* x, int level) const;
  // The stencil at `level` of its observation i, from which that and its copies (equal inputs) are left out.
  Stencil ReachWithout(int level, int i) const;

  // cov(f_level(p_i), f_level(q_j) | y_≤level), |p|×|q|, of points which have reached that level.
  Matrix Covariance(int level, absl::Span<const ReachedPoint> p, absl::Span<const ReachedPoint> q) const;

  // ∂F/∂x of a point that has reached `level`; its neighbours count as fixed. The others have reached it, too.
  Vector Gradient(int level, const ReachedPoint& point, const MomentAdjoints& bar) const;

  // Bytes of memory for the observations of a level, an estimate from above.
  static int64_t MemoryBytes(int64_t count, int level, int dimension, int neighbours, int centres);

 private:
  struct Layer {
    NeighbourData data;
    std::vector<Stencil> below;  // of its points, `level` each
    KernelFamily kernel = KernelFamily::kRbf;
    Vector theta;
    std::optional<NeighbourParameters> parameters;
    std::unique_ptr<const NeighbourIndex> index;
    std::unique_ptr<const LowRankPart> low_rank;  // none: neighbours alone
  };
  // What the errors e of some points are made of: observed points of the level, then the points themselves.
  struct Support {
    std::vector<int> observed;  // ascending
    std::vector<ReachedPoint> points;
    Matrix features;  // of the points, one column each; without a LowRankPart without rows
  };
  Support SupportOf(int level, std::vector<int> observed, absl::Span<const ReachedPoint> points) const;
  // Of the errors of `points`.
  Support SupportOf(int level, absl::Span<const ReachedPoint> points) const;
  // What K_level is of the points of p and q, without the low-rank part.
  Matrix RestCovariance(int level, const Support& p, const Support& q) const;
  // RestCovariance(rows, support) a for the coefficients a of each point's error: rows × points.
  Matrix TimesErrors(int level, const Support& rows, absl::Span<const ReachedPoint> points,
                     const Support& support) const;

  // From observations `index`, ascending; `left_out` of them are not to be used, all at the place of the point.
  Stencil Solve(int level, const ReachedPoint& point, std::vector<int> index, const std::vector<int>& left_out) const;
  Vector Scaled(int level, const ReachedPoint& point) const;
  // Of observations, with their noise.
  Matrix ObservedCovariance(int level, const Support& observed) const;
  void LeaveOut(int level, const std::vector<int>& left_out, Stencil& stencil) const;
  double PriorMean(int level, const ReachedPoint& point) const;
  double PriorVariance(int level, const ReachedPoint& point) const;
  // K_level between points that have reached the level below.
  Matrix PriorCovariance(int level, absl::Span<const ReachedPoint> p, absl::Span<const ReachedPoint> q) const;
  std::vector<ReachedPoint> PointsOf(int level, const std::vector<int>& observed) const;
  double Noise(int level, int i) const;

  const int neighbours_, centres_;
  std::vector<Layer> layers_;
};

// For points that have reached `level`, whose neighbours are shared by which others.
class SharedNeighbours {
 public:
  SharedNeighbours(int level, absl::Span<const ReachedPoint> points);

  // The points that share a neighbour with this stencil, as ascending numbers below `end`.
  std::vector<int> Of(const Stencil& stencil, int end) const;

 private:
  std::vector<std::pair<int, int>> uses_;  // (observation, point), ascending
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_STACK_H_
