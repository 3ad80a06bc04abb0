// MomentJoint: the joint posterior of f at M query points, each at a level of its own, for one MomentPosterior.
//
// The covariance of two points goes through the recursion as that of the data does: moment-matched from level to level
// (link_kernel), and at every level t, below, at and above the wanted one, less the part that y_t explains,
//   C − Uᵀ U,   U = L_t⁻¹ cov(f_t(X_t), f(x)).
// A point x wanted at level s < t goes no further; its covariances with those that do are moment-matched, too:
//   cov(f_t(x'), f_s(x) | y_<t) = ρ_t cov(f_{t−1}(x'), f_s(x) | y_<t).
// Means and diagonal are those of MomentPosterior::Predict; the rest is symmetric, and positive semi-definite but for
// rounding.
//
// What concerns single points, O(M·N²), is done at the beginning; covariances come in blocks of rows and columns, O(N + D)
// per element and link: as many as the caches hold at a time, so that large matrices go to memory once.
// Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_JOINT_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_JOINT_H_

#include <vector>

#include "core/base/types.h"
#include "core/dgp/moments/moment_posterior.h"

namespace fidelio {

// A part of a matrix of covariances that is computed at a time.
struct JointTile {
  Eigen::Index row, rows, column, columns;
};

// The tiles of an n×m matrix, or, with `lower` (m = n), those that its lower triangle needs.
std::vector<JointTile> JointTiles(Eigen::Index n, Eigen::Index m, bool lower);

class MomentJoint {
 public:
  // `levels` ascend, one per query point. `posterior` and `queries` must outlive this.
  MomentJoint(const MomentPosterior& posterior, const MomentQueries& queries, const std::vector<int>& levels);

  int links() const { return posterior_.links(); }
  // Under one link, in standardised units: M.
  const Vector& mean(int link) const { return passed_.back()[LinkAt(passed_.size() - 1, link)].mean; }

  // What Block works with; `covariance` is its result, a matrix per link, in standardised units. One per thread.
  struct Scratch {
    std::vector<Matrix> covariance;
    Matrix first, a, b, c, first_link, link;
    std::vector<Matrix> rho, delta, trend;
  };
  // The covariance of the points of this that are the rows of the tile with those of `other` that are its columns. `other`
  // has the same posterior and may be this (it is, where layer 1 is given); under the links that are `wanted`.
  void Block(const JointTile& tile, const MomentJoint& other, const std::vector<bool>& wanted, Scratch& scratch) const;

  // All points, under one link: mean M, covariance M×M.
  void Under(int link, Vector& mean, Matrix& covariance) const;

 private:
  // All points after a level's data, under one link: f_t, or f_s for those wanted at s < t.
  struct Passed {
    Vector mean, variance;
    Matrix explained;  // U, N_t×M
  };
  // Inputs of the kernels of a level above 0.
  struct Inputs {
    Matrix rho, delta;
  };
  // Points of a block.
  struct Range {
    const MomentJoint& of;
    Eigen::Index begin, size;
    // How many of them, the last ones, reach level t.
    Eigen::Index Climbing(size_t t) const;
  };

  static size_t LinkAt(size_t level, int link) { return level == 0 ? 0 : link; }
  // Level t's kernels over x between climbing points, which all links share.
  static void KernelsAt(size_t t, const Range& a, const Range& b, Scratch& scratch);
  // The link kernel between them, from the covariances `c` of the level below.
  static void LinkAbove(size_t t, int link, const Range& a, const Range& b, const Matrix& c, const Scratch& scratch,
                        Matrix& k);
  // Takes away what the data of level t explain.
  static void Condition(size_t t, int link, const Range& a, const Range& b, Matrix& covariance);

  const MomentPosterior& posterior_;
  const MomentQueries& queries_;
  std::vector<Eigen::Index> below_;  // per level of the model: how many points, the first ones, are wanted below it
  Matrix first_;                     // FirstPrior::Inputs
  std::vector<Inputs> inputs_;       // per level; the first is empty
  std::vector<std::vector<Passed>> passed_;  // per level and link; one link at level 0
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_JOINT_H_
