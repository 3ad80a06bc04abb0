// Conditioning: a Gaussian over R points, conditioned on noisy observations of the first n, and its reverse-mode
// gradient.
//
// With a = the first n points, b = the other R−n, K = K_aa + diag(noise), e = y − m_a:
//   log p(y)  = −½ eᵀK⁻¹e − ½ log|K| − n/2 log 2π
//   m'        = m_b + K_ba α,       α = K⁻¹ e
//   C         = K_bb − K_ba K⁻¹ K_ab
// n may be 0 (then m' = m, C = K) and so may R−n.
//
// Buffers are kept between calls, so that repeated evaluations do not allocate. Not thread-safe: one per thread.
#ifndef FIDELIO_CORE_GP_CONDITIONING_H_
#define FIDELIO_CORE_GP_CONDITIONING_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"

namespace fidelio {

class Conditioning {
 public:
  // `k` (R×R, lower triangle) is consumed: afterwards the lower triangle of its bottom right corner holds C.
  // `name` is for error messages.
  absl::Status Run(MatrixRef k, const ConstVectorRef& mean, const ConstVectorRef& y, const ConstVectorRef& noise,
                   absl::string_view name);

  double log_likelihood() const { return log_likelihood_; }
  double jitter() const { return jitter_; }
  const Vector& mean_rest() const { return mean_rest_; }                      // m', R−n
  const Vector& alpha() const { return alpha_; }                              // K⁻¹ e, n
  const Vector& whitened() const { return whitened_; }                        // L⁻¹ e, n
  const Matrix& inverse_factor() const { return inverse_; }                   // L⁻¹, n×n lower triangular
  auto cross_weights() const { return weights_.topRows(mean_rest_.size()); }  // K_ba K⁻¹, (R−n)×n

  // The reverse pass of F = weight·log p(y) + (terms of m' and C). Takes ∂F/∂m' and the symmetric ∂F/∂C (every element
  // counted, so that dF = Σ_ij C_bar_ij dC_ij); writes ∂F/∂k in the same convention (lower triangle of R×R; its leading
  // n×n diagonal is also ∂F/∂noise) and ∂F/∂mean (R).
  void Reverse(double weight, const ConstMatrixRef& c_bar, const ConstVectorRef& m_bar, MatrixRef k_bar,
               Eigen::Ref<Vector> mean_bar);

 private:
  double log_likelihood_ = 0;
  double jitter_ = 0;
  Vector mean_rest_, alpha_, whitened_, beta_, v_m_;
  Matrix original_, inverse_;
  Matrix weights_, weights_bar_;  // (R−n+2)×n: K_ba K⁻¹ and C_bar K_ba K⁻¹, each with two rows for Reverse
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_CONDITIONING_H_
