// GpPosterior: a GpModel at one θ, given its observations.
//
//   mean(z) = m(z) + kᵀα        cov(z, z') = k(z, z') − (L⁻¹k)ᵀ(L⁻¹k')
//   k = k(Z, z),  L Lᵀ = k(Z, Z) + noise,  α = (L Lᵀ)⁻¹(y − m)
//
// Without a group G of observations, with the basis Q of their columns of L⁻¹ (left_out.h), h = L⁻¹k and
// w = L⁻¹(y − m):
//   mean(z) − (Qᵀh)ᵀ(Qᵀw)        variance(z) + ‖Qᵀh‖²
//
// Limits: without observations it is the prior. Immutable after Build; safe to share between threads.
#ifndef FIDELIO_CORE_GP_GP_POSTERIOR_H_
#define FIDELIO_CORE_GP_GP_POSTERIOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/gp/gp_model.h"
#include "core/gp/left_out.h"

namespace fidelio {

class GpPosterior {
 public:
  // Fails when the covariance of the data can't be factorised. The model is needed only here.
  static absl::StatusOr<GpPosterior> Build(const GpModel& model, const Vector& theta);

  struct Moments {
    Vector mean, variance;  // M each; variances of f, positive
  };
  Moments Predict(const Matrix& z) const;

  // Given ∂F/∂mean and ∂F/∂variance of Predict(z): ∂F/∂z.
  Matrix Gradient(const Matrix& z, const Vector& mean_bar, const Vector& variance_bar) const;

  // M×M, symmetric; the diagonal is Predict's variance.
  Matrix Covariance(const Matrix& z) const;

  // Observations y_i, begin ≤ i < end, each predicted from the others among the first `end` that are not its copies,
  // which count from `begin`: noise is in their variance.
  struct LeftOutMoments {
    Vector mean, variance;
    Vector log_density;  // as in LeftOut
  };
  LeftOutMoments LeaveOneOut(int begin, int end, const CopyGroups& copies = {}) const;

  // f at the rows of z, each without some observations: row j without those of groups[left_out[j]], at least one.
  Moments PredictWithout(const Matrix& z, const std::vector<std::vector<int>>& groups,
                         const std::vector<int>& left_out) const;

  double log_likelihood() const { return log_likelihood_; }  // log p(y | θ)
  double jitter() const { return jitter_; }
  int64_t MemoryBytes() const;

 private:
  friend class GpPaths;

  // Variances below this part of the prior's are rounding.
  Vector Positive(const Vector& variance, const Vector& prior) const;

  std::shared_ptr<const GpPrior> prior_;
  Vector y_, whitened_, alpha_;  // N: L⁻¹(y − m), K⁻¹(y − m)
  Vector noise_;                 // N: variances, jitter included
  Matrix inverse_;               // L⁻¹, lower triangular
  double jitter_ = 0, log_likelihood_ = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_GP_POSTERIOR_H_
