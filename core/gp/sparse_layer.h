// SparseLayer: the marginals of one GP layer, summarised by M whitened inducing variables, and their reverse pass.
//
//   q(v) = N(m, S Sᵀ), S lower triangular        a = L⁻¹ k(Z, x)  (whitening.h)
//   mean = aᵀm          var = k(x, x) − ‖a‖² + ‖Sᵀa‖²
//   KL[q ‖ N(0, I)] = ½ (‖S‖² + mᵀm − M) − Σ log|S_ii|
//
// Limits: m = 0, S = I (the prior) ⇒ mean 0, var k(x, x). Shapes: A M×n, m M, S M×M with a zero strict upper triangle.
// Buffers are reused. Not thread-safe.
#ifndef FIDELIO_CORE_GP_SPARSE_LAYER_H_
#define FIDELIO_CORE_GP_SPARSE_LAYER_H_

#include "core/base/types.h"

namespace fidelio {

class SparseLayer {
 public:
  // `diagonal` is k(x, x). What is given must stay as it is until Reverse.
  void Forward(const Matrix& a, const Vector& diagonal, const Vector& m, const Matrix& s, int threads);

  const Vector& mean() const { return mean_; }
  const Vector& variance() const { return variance_; }
  double divergence() const { return divergence_; }  // KL

  // The reverse pass of F = (terms of mean and variance) − KL. Given ∂F/∂mean and ∂F/∂variance: ∂F/∂A (without the part
  // through k(x, x), which is ∂F/∂variance itself), ∂F/∂m and the lower triangle of ∂F/∂S (the rest is 0).
  void Reverse(const Vector& mean_bar, const Vector& variance_bar, Matrix& a_bar, Vector& m_bar, Matrix& s_bar);

 private:
  int threads_ = 1;
  const Matrix* a_ = nullptr;
  const Vector* m_ = nullptr;
  const Matrix* s_ = nullptr;
  Vector mean_, variance_;
  double divergence_ = 0;
  Matrix half_;  // Sᵀa
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_SPARSE_LAYER_H_
