// SiteLayer: q(v) of a whitened sparse layer as the prior times Gaussian sites at its nodes, and the layer's marginals
// there.
//
//   q(v) ∝ N(v; 0, I)·∏_p exp(−½ d_p (t_p − a_pᵀv)²)      B = I + A D Aᵀ = C Cᵀ,   m = B⁻¹ A D t,   cov = B⁻¹
//   mean_p = a_pᵀ m        var_p = k_pp − ‖a_p‖² + ‖C⁻¹a_p‖²
//   KL[q ‖ N(0, I)] = ½ (tr B⁻¹ + mᵀm − M + log|B|)
//
// With observations of the layer as sites (d: weight/σ², t: y) this q is the best there is, so that it has no
// parameters of its own. Limits: D = 0 is the prior; Z = X gives the exact GP. Shapes: A M×n; d, t n. Buffers are
// reused. Not thread-safe.
#ifndef FIDELIO_CORE_GP_SITE_LAYER_H_
#define FIDELIO_CORE_GP_SITE_LAYER_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"

namespace fidelio {

class SiteLayer {
 public:
  // `a` must stay as it is until Reverse; `diagonal` is k_pp.
  absl::Status Forward(const Matrix& a, const Vector& diagonal, const Vector& precision, const Vector& target,
                       int threads, absl::string_view name);

  const Vector& mean() const { return mean_; }
  const Vector& variance() const { return variance_; }
  double divergence() const { return divergence_; }          // KL
  const Vector& m() const { return m_; }                     // of q(v), M
  const Matrix& inverse_factor() const { return inverse_; }  // C⁻¹: S = C⁻ᵀ is a root of q's covariance, S Sᵀ = B⁻¹

  // The reverse pass of F = (terms of mean and variance) − KL. Given ∂F/∂mean and ∂F/∂variance: ∂F/∂A (without the part
  // through k_pp, which is ∂F/∂variance itself), ∂F/∂precision and ∂F/∂target.
  void Reverse(const Vector& mean_bar, const Vector& variance_bar, Matrix& a_bar, Vector& precision_bar,
               Vector& target_bar);

 private:
  int threads_ = 1;
  const Matrix* a_ = nullptr;
  Vector precision_, target_, mean_, variance_, m_, right_;
  double divergence_ = 0;
  Matrix inverse_, whole_inverse_, half_, solved_, scaled_, gram_, scratch_, b_bar_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_SITE_LAYER_H_
