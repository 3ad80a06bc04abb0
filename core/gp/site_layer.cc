#include "core/gp/site_layer.h"

#include <algorithm>
#include <cmath>

#include "core/base/status_macros.h"
#include "core/gp/whitening.h"
#include "core/linalg/cholesky.h"
#include "core/linalg/product.h"

namespace fidelio {

using Eigen::Index;

absl::Status SiteLayer::Forward(const Matrix& a, const Vector& diagonal, const Vector& precision, const Vector& target,
                                int threads, absl::string_view name) {
  const Index m = a.rows(), n = a.cols();
  threads_ = threads;
  a_ = &a;
  precision_ = precision;
  target_ = target;
  scaled_ = a * precision.asDiagonal();
  gram_.setIdentity(m, m);
  LargeMultiply(threads, {.c = Part::kLower}, 1, scaled_, a.transpose(), Write::kAdd, gram_);
  inverse_.resize(m, m);
  FIDELIO_ASSIGN_OR_RETURN(const double jitter, CholeskyWithInverse(gram_, inverse_, name, &scratch_));
  (void)jitter;  // B ≥ I: none is needed but for B beyond 1e14
  half_.resize(m, n);
  LargeMultiply(threads, {.a = Part::kLower}, 1, inverse_, a, Write::kSet, half_);
  right_.noalias() = scaled_ * target;
  const Vector whitened = inverse_ * right_;
  m_.noalias() = inverse_.transpose() * whitened;
  mean_.noalias() = a.transpose() * m_;
  variance_ = (diagonal.array() - a.colwise().squaredNorm().transpose().array()).max(0).matrix() +
              half_.colwise().squaredNorm().transpose();
  divergence_ =
      0.5 * (inverse_.squaredNorm() + m_.squaredNorm() - static_cast<double>(m)) + gram_.diagonal().array().log().sum();
  return absl::OkStatus();
}

void SiteLayer::Reverse(const Vector& mean_bar, const Vector& variance_bar, Matrix& a_bar, Vector& precision_bar,
                        Vector& target_bar) {
  const Matrix& a = *a_;
  const Index m = a.rows(), n = a.cols();
  whole_inverse_.resize(m, m);
  Multiply({.a = Part::kUpper, .b = Part::kLower}, 1, inverse_.transpose(), inverse_, Write::kSet, whole_inverse_);
  solved_.resize(m, n);  // B⁻¹ A
  LargeMultiply(threads_, {.a = Part::kUpper}, 1, inverse_.transpose(), half_, Write::kSet, solved_);
  const Vector m_bar = a * mean_bar - m_;
  const Vector u = whole_inverse_ * m_bar;  // ∂F/∂(A D t)
  // ∂F/∂B = −B⁻¹A V AᵀB⁻¹ + ½ B⁻¹B⁻¹ − ½ B⁻¹ − ½ (u mᵀ + m uᵀ), V = diag(variance_bar)
  scratch_ = solved_ * variance_bar.asDiagonal();
  b_bar_.resize(m, m);
  LargeMultiply(threads_, {}, -1, scratch_, solved_.transpose(), Write::kSet, b_bar_);
  Multiply({}, 0.5, whole_inverse_, whole_inverse_, Write::kAdd, b_bar_);
  b_bar_ -= 0.5 * whole_inverse_;
  b_bar_.noalias() -= 0.5 * u * m_.transpose();
  b_bar_.noalias() -= 0.5 * m_ * u.transpose();
  // Through B = I + A D Aᵀ and A D t.
  gram_.resize(m, n);
  LargeMultiply(threads_, {}, 1, b_bar_, a, Write::kSet, gram_);
  const Vector pull = a.transpose() * u;
  precision_bar = gram_.cwiseProduct(a).colwise().sum().transpose() + pull.cwiseProduct(target_);
  target_bar = pull.cwiseProduct(precision_);
  a_bar.resize(m, n);
  for (Index p = 0; p < n; ++p) {
    a_bar.col(p) = mean_bar[p] * m_ + (2 * variance_bar[p]) * (solved_.col(p) - a.col(p)) +
                   (2 * precision_[p]) * gram_.col(p) + (precision_[p] * target_[p]) * u;
  }
}

}  // namespace fidelio
