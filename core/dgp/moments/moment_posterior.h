// MomentPosterior: the posterior of a moment-matched MF-DGP at one hyperparameter vector θ, ready to predict.
//
// A prediction at level t runs the recursion for the query points beside the data: filtered up to level t, then smoothed
// by the data of the levels above through cov(f_{t+1}(x), f_t(x') | y_≤t) = ρ_{t+1} C_t(x,x'). This covariance is exact. The
// smoothing is exact for linear links; for others it is the best linear estimate, and with ρ = 0 the data above change nothing below.
// One Gaussian per link, in standardised units. Immutable after Build; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_POSTERIOR_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_POSTERIOR_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/dgp/moments/moment_model.h"
#include "core/dgp/moments/moment_recursion.h"
#include "core/gp/left_out.h"
#include "core/linalg/lower_panels.h"

namespace fidelio {

class MomentPosterior {
 public:
  // Runs `recursion` at θ and keeps what predictions need.
  static absl::StatusOr<MomentPosterior> Build(MomentRecursion& recursion, const Vector& theta);

  int links() const { return static_cast<int>(link_weights_.size()); }
  const Vector& theta() const { return theta_; }
  const Vector& link_weights() const { return link_weights_; }
  double log_likelihood() const { return log_likelihood_; }
  double log_likelihood_below(int level) const { return log_likelihood_to_[level]; }  // of the data of levels < level
  // Mean squared standardised leave-one-out residual of a level's data given all levels below, over its distinct inputs; 1
  // when it has none.
  double leave_one_out(int level) const { return leave_one_out_[level]; }
  double noise(int level) const { return noise_[level]; }  // learned variance, with the floor

  struct Gaussians {
    Matrix mean;      // links × M
    Matrix variance;  // links × M, latent, positive
  };
  // At scaled inputs x (M×D).
  Gaussians Predict(const Matrix& x, int level) const;

  // Given ∂F/∂mean and ∂F/∂variance of a function of these Gaussians (links × M each): ∂F/∂x, M×D.
  Matrix Gradient(const Matrix& x, int level, const Matrix& mean_bar, const Matrix& variance_bar) const;

  // Each observation y_i of a level, predicted from the others of its level, without its copies, and those below: its noisy
  // mean and variance, and the log density of y_i and its copies together (no columns where the level has no copies).
  struct LeftOutGaussians {
    Matrix mean, variance, log_density;  // links × n
  };
  LeftOutGaussians LeaveOneOut(int level) const;

  // The same where many posteriors of one model predict in turn: what they share is computed once, and buffers are reused.
  // One workspace per thread; its contents do not influence results.
  struct Workspace;
  void Predict(const MomentQueries& queries, int level, Workspace& workspace, MatrixRef mean, MatrixRef variance) const;
  Matrix Gradient(const MomentQueries& queries, int level, const ConstMatrixRef& mean_bar,
                  const ConstMatrixRef& variance_bar, Workspace& workspace) const {
    return Reverse(queries, level, mean_bar, variance_bar, workspace).x;
  }
  struct Adjoints {
    Matrix x;            // ∂F/∂x, M×D, where the given moments are held fixed
    QueryMoments given;  // ∂F/∂MomentQueries::given; empty where layer 1 is learned
  };
  Adjoints Reverse(const MomentQueries& queries, int level, const ConstMatrixRef& mean_bar,
                   const ConstMatrixRef& variance_bar, Workspace& workspace) const;

 private:
  friend class MomentJoint;
  friend class MomentPaths;

  // A level under one link, conditioned on its data.
  struct Conditioned {
    LowerPanels panels;  // [L⁻¹; K_ba K⁻¹], (n+rest)×n
    Vector alpha;        // n
    LeftOut left_out;    // of its data
    Vector m, v;         // of f_{level−1} at the points of levels ≥ level (level ≥ 1)
    double prior_offset = 0, zero = 0;
  };
  // What the links of a level share.
  struct Level {
    LinkScalars scalars;
    Vector rho_inverse, delta_inverse;  // 1/lengthscale
    Matrix rho_inputs, delta_inputs;    // scaled inputs of the points of levels ≥ level
    std::vector<Conditioned> links;     // one at level 0
  };
  // The passage of a query through a level: before its data, [L⁻¹; K_ba K⁻¹] times the cross covariance with them, after.
  struct Passage {
    QueryMoments prior;
    Matrix product;
    QueryMoments given;
    Matrix rho_kernel, delta_kernel, link_kernel;
  };

  void Condition(const Conditioned& on, Passage& at) const;
  void LinkCross(const MomentQueries& queries, const QueryMoments& below, int level, int link, Passage& at) const;
  void Up(const MomentQueries& queries, const QueryMoments& below, int level, int link, Passage& at) const;
  // Level 0, the kernels over x of the levels above, up to `level`, and level 1's link kernel.
  void Begin(const MomentQueries& queries, int level, Workspace& workspace) const;
  // From level 0 up to `level` under one link.
  void Climb(const MomentQueries& queries, int level, int link, Workspace& workspace) const {
    Climb(queries, level, link, {}, workspace);
  }
  // The same where the first below[t] query points go no further than to levels below t; smoothed up to `level`.
  void Climb(const MomentQueries& queries, int level, int link, const std::vector<Eigen::Index>& below,
             Workspace& workspace) const;
  // f_level, after Climb, given the data of the levels above, too.
  void Smooth(int level, int link, Workspace& workspace) const;
  // The gradient's parts (moment_posterior_gradient.cc); a QueryMoments named bar holds adjoints.
  void ReverseCondition(const Conditioned& on, const Passage& at, QueryMoments& bar) const;
  void ReverseUp(const Matrix& x, const QueryMoments& below, int level, const Conditioned& to, QueryMoments& bar,
                 Matrix& x_bar) const;

  std::shared_ptr<const MomentModel> model_;
  Vector theta_, link_weights_;
  double log_likelihood_ = 0;
  std::vector<double> log_likelihood_to_;  // per level, of the data below it
  std::vector<double> leave_one_out_, noise_;
  std::shared_ptr<const FirstPrior> first_;
  std::vector<Level> levels_;
};

struct MomentPosterior::Workspace {
  std::vector<Passage> levels;
  Matrix inputs;  // of a kernel over x, at the query points
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_POSTERIOR_H_
