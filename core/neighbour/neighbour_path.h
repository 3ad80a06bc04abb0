// NeighbourPath: a function drawn from a level of a NeighbourStack, which can be evaluated anywhere.
//
// The stack says cov(x, x') = c(x, x')·|S ∩ S'| / √(|S||S'|), where c is the covariance of the errors e(x) = f(x) − wᵀy_S that
// predictions make, and S the neighbours of x. With independent copies e_b of that error, b < B, and for every
// observation i a random sign η_i and a random copy b_i,
//
//   f_t(x) = mean(x) + |S|^(−½) Σ_{i∈S} η_i e_{b_i}(x),        e_b(x) = p_b(x) − Σ_{j∈S} w_j (p_b(x_j) + ε_bj),   ε_bj ~ N(0, noise_j)
//
// has exactly this covariance, because E η_i η_k = 0 for i ≠ k, whatever B. p_b is a path of the level's prior: waves for every term of
// its kernel (kernel/spectral_path), and, above level 0, a NeighbourPath of the level below for every copy. η_i, b_i and ε_bj
// are hashes of observation and path, not stored: drawing a path takes no time that depends on the data, and a value O(B m W D) and what the
// neighbours of x took. Where the neighbours of x change, f jumps a little, as the covariance says: one of m changed neighbours leaves a
// correlation of 1 − 1/m. Above level 0, a value costs B m values of the level below.
//
// Everything is in standardised units. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_PATH_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_PATH_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/kernel/link_path.h"
#include "core/neighbour/neighbour_stack.h"

namespace fidelio {

class NeighbourPath {
 public:
  // `stack` is complete and must outlive this.
  NeighbourPath(const NeighbourStack& stack, int level, Random& random);

  // At a point that has reached the level.
  double At(const ReachedPoint& point) const;

 private:
  // One of the independent errors; `link` and `below` above level 0 only.
  struct Copy {
    SpectralPath own;  // level 0: of k_1; above: of k_delta
    std::optional<LinkPath> link;
    double offset = 0;
    std::unique_ptr<const NeighbourPath> below;
    std::array<uint32_t, 2> noise_key;
  };

  Copy DrawCopy(Random& random) const;
  // Paths of the prior of f_t, less its mean: at the points, whose inputs divided by lengthscales come beside them.
  Vector Prior(const Copy& copy, const std::vector<ReachedPoint>& points, const Matrix& own, const Matrix& rho) const;
  Matrix Inputs(const std::vector<ReachedPoint>& points, const Vector& inverse) const;

  const NeighbourStack& stack_;
  const int level_;
  const NeighbourParameters parameters_;
  std::array<uint32_t, 2> sign_key_;
  std::vector<Copy> copies_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_PATH_H_
