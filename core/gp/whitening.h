// Whitening: inducing variables u = L v with v ~ N(0, I), L Lᵀ = K_ZZ + jitter, and what a point's f has of v.
//
//   a = L⁻¹ k(Z, x),     f(x) = aᵀv + rest,     var(rest) = k(x, x) − aᵀa
//
// Shapes: K_ZZ M×M, A = [a …] M×n. M may be 0. Large products run on several threads; results do not depend on their
// number. Buffers are reused. Not thread-safe.
#ifndef FIDELIO_CORE_GP_WHITENING_H_
#define FIDELIO_CORE_GP_WHITENING_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"
#include "core/linalg/product.h"

namespace fidelio {

// Multiply, by column blocks on several threads where that pays. b and c must not overlap.
void LargeMultiply(int threads, const Parts& parts, double scale, const Factor& a, const Factor& b, Write write,
                   MatrixRef c);

class Whitening {
 public:
  // `k_zz` is symmetric; its diagonal is multiplied by 1 + jitter before it is factorised. `name` is for messages.
  absl::Status Factorise(const Matrix& k_zz, double jitter, int threads, absl::string_view name);

  const Matrix& inverse_factor() const { return inverse_; }  // L⁻¹, M×M lower triangular
  const Matrix& factor() const { return factor_; }           // L; its strict upper triangle is not zero
  double extra_jitter() const { return extra_; }             // relative, that the factorisation needed beyond `jitter`

  // a = L⁻¹ k. `part`: kLower where k is lower triangular, as a root of the inducing variables' covariance is; a is,
  // too.
  void Apply(const ConstMatrixRef& k, Matrix& a, Part part = Part::kAll) const;

  // The reverse pass. Given ∂F/∂A (consumed) and A: k_bar = ∂F/∂k(Z, x), and the part of ∂F/∂K_ZZ that flows through A
  // is remembered. With part kLower, of k_bar, a and a_bar the lower triangles count; the rest of k_bar is scratch.
  void Reverse(const Matrix& a, const Matrix& a_bar, Matrix& k_bar, Part part = Part::kAll);

  // ∂F/∂K_ZZ of all Reverse calls since the factorisation: symmetric, every element counted.
  void Finish(Matrix& k_zz_bar);

 private:
  int threads_ = 1;
  double jitter_ = 0, extra_ = 0;
  Matrix factor_, inverse_, scratch_, inner_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_GP_WHITENING_H_
