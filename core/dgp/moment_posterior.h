// MomentPosterior: the posterior of a moment-matched MF-DGP at one hyperparameter vector θ, ready to predict.
//
// A prediction at level t runs the recursion for the query points beside the data: filtered up to level t, then smoothed
// by the data of the levels above through cov(f_{t+1}(x), f_t(x') | y_≤t) = ρ_{t+1} C_t(x,x'), which is exact.
// One Gaussian per link, in standardised units. Immutable after Build; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_MOMENT_POSTERIOR_H_
#define FIDELIO_CORE_DGP_MOMENT_POSTERIOR_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/dgp/moment_model.h"
#include "core/dgp/moment_recursion.h"

namespace fidelio {

class MomentPosterior {
 public:
  // Runs `recursion` at θ and keeps what predictions need.
  static absl::StatusOr<MomentPosterior> Build(MomentRecursion& recursion, const Vector& theta);

  int links() const { return static_cast<int>(link_weights_.size()); }
  const Vector& theta() const { return theta_; }
  const Vector& link_weights() const { return link_weights_; }
  double log_likelihood() const { return log_likelihood_; }
  // Mean squared standardised leave-one-out residual of a level's data given all levels below; 1 when it has none.
  double leave_one_out(int level) const { return leave_one_out_[level]; }
  double noise(int level) const { return noise_[level]; }  // learned variance, with the floor

  struct Gaussians {
    Matrix mean;      // links × M
    Matrix variance;  // links × M, latent, positive
  };
  // At scaled inputs x (M×D).
  Gaussians Predict(const Matrix& x, int level) const;

  // ∂mean/∂x of the link-weighted mean, M×D, in standardised units.
  Matrix MeanGradient(const Matrix& x, int level) const;

 private:
  // A level under one link, conditioned on its data.
  struct Conditioned {
    Matrix inverse_factor;  // L⁻¹, n×n
    Vector alpha;           // n
    Matrix cross_weights;   // K_ba K⁻¹, rest×n
    Vector m, v;            // of f_{level−1} at the points of levels ≥ level (level ≥ 1)
    double prior_offset = 0, zero = 0;
  };
  // What the links of a level share.
  struct Level {
    LinkScalars scalars;
    Vector rho_inverse, delta_inverse;  // 1/lengthscale
    Matrix rho_inputs, delta_inputs;    // scaled inputs of the points of levels ≥ level
    std::vector<Conditioned> links;     // one at level 0
  };
  // Query points beside the data: cross covariance with the points of the levels that follow, mean, variance.
  struct Query {
    Matrix cross;
    Vector mean, variance;
  };

  void Condition(const Conditioned& on, Query& query) const;
  Query First(const Matrix& x) const;
  Query Up(const Matrix& x, const Query& below, int level, const Conditioned& to, const Matrix& rho_kernel,
           const Matrix& delta_kernel, const Matrix& trend) const;
  void CrossKernels(const Matrix& x, int level, Matrix& rho_kernel, Matrix& delta_kernel, Matrix& trend,
                    Matrix* rho_slope, Matrix* delta_slope) const;
  // The gradient's parts (moment_posterior_gradient.cc); a Query named bar holds adjoints.
  Vector SmoothingWeights(int level, int link) const;
  void ReverseCondition(const Conditioned& on, const Matrix& prior_cross, Query& bar) const;
  void ReverseUp(const Matrix& x, const Query& below, int level, const Conditioned& to, Query& bar,
                 Matrix& x_bar) const;
  void ReverseFirst(const Matrix& x, const Query& bar, Matrix& x_bar) const;
  void AddTrendGradient(const Matrix& x, double trend, int level, const Query& bar, Matrix& x_bar) const;

  std::shared_ptr<const MomentModel> model_;
  Vector theta_, link_weights_;
  double log_likelihood_ = 0;
  std::vector<double> leave_one_out_, noise_;
  Matrix first_inputs_;
  std::vector<Level> levels_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENT_POSTERIOR_H_
