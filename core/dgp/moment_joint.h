// MomentJoint: the joint posterior of f at M query points, each at a level of its own, for one MomentPosterior.
//
// The covariance of the query points goes through the recursion as that of the data does: moment-matched from level to level
// (link_kernel), and at every level t, below, at and above the wanted one, less the part that y_t explains,
//   C − Uᵀ U,   U = L_t⁻¹ cov(f_t(X_t), f(x)).
// A point x wanted at level s < t goes no further; its covariances with those that do are moment-matched, too:
//   cov(f_t(x'), f_s(x) | y_<t) = ρ_t cov(f_{t−1}(x'), f_s(x) | y_<t).
// Means and diagonal are those of MomentPosterior::Predict; the rest is symmetric, and positive semi-definite but for
// rounding. Takes O(M²·(N + D)) time per link and about 4 + 1.5·level matrices of M×M. Not thread-safe: one per thread.
#ifndef FIDELIO_CORE_DGP_MOMENT_JOINT_H_
#define FIDELIO_CORE_DGP_MOMENT_JOINT_H_

#include <vector>

#include "core/base/types.h"
#include "core/dgp/link_kernel.h"
#include "core/dgp/moment_posterior.h"

namespace fidelio {

class MomentJoint {
 public:
  // What the links share. `levels` ascend, one per query point. `posterior` and `queries` must outlive this.
  MomentJoint(const MomentPosterior& posterior, const MomentQueries& queries, const std::vector<int>& levels);

  // Under one link, in standardised units: mean M, covariance M×M.
  void Under(int link, Vector& mean, Matrix& covariance);

 private:
  // Of f_0 given y_0: the lower triangle.
  Matrix First() const;
  LinkInputs Inputs(int level) const;
  // Runs link_ for level t, from the covariance of f_{t−1} given y_<t (lower triangle).
  void RunLink(int t, const Matrix& below);
  // Takes away what the data of level t explain.
  void Condition(int t, Matrix& covariance) const;

  const MomentPosterior& posterior_;
  const MomentQueries& queries_;
  std::vector<Eigen::Index> below_;  // per level of the model: how many points, the first ones, are wanted below it
  int level_ = 0;                    // the highest that is wanted
  MomentPosterior::Workspace workspace_;
  std::vector<LinkInputs> inputs_;  // of levels 1 … level_
  LinkKernel link_;
  Eigen::ArrayXd pairs_;
  Matrix first_;                     // of f_0 given y_0
  Eigen::ArrayXd first_link_pairs_;  // level_ > 0: of f_1 given y_0, without a link's constant
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENT_JOINT_H_
