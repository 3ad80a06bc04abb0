#include "core/linalg/cholesky.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "core/linalg/product.h"
#include "core/linalg/triangular.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kBase = 8;     // factorised in registers
constexpr Index kSmall = 320;  // up to this size, in panels of kBase columns;
constexpr Index kPanel = 128;  // above it, in panels of this many, which are themselves factorised so

// n ≤ kBase. Padded by the identity, so that every loop has a constant length.
bool FactoriseBase(MatrixRef a, MatrixRef inverse) {
  using Square = Eigen::Matrix<double, kBase, kBase>;
  const Index n = a.rows();
  Square l = Square::Zero(), u = Square::Zero();  // L and L⁻ᵀ: both are worked on by columns
  l.diagonal().setOnes();
  u.diagonal().setOnes();
  l.topLeftCorner(n, n) = a;
  for (Index j = 0; j < kBase; ++j) {
    const double pivot = l(j, j);
    if (!(pivot >= std::numeric_limits<double>::min() && std::isfinite(pivot))) return false;
    const double ratio = 1 / pivot;
    for (Index k = j + 1; k < kBase; ++k) l.col(k) -= (l(k, j) * ratio) * l.col(j);
    const double scale = std::sqrt(ratio);  // only now: the next pivot need not wait for it
    l.col(j) *= scale;
    for (Index k = 0; k < j; ++k) u.col(j) -= l(j, k) * u.col(k);
    u.col(j) *= scale;
  }
  a = l.topLeftCorner(n, n);
  inverse = u.transpose().topLeftCorner(n, n);
  return true;
}

// `inverse` has a zero strict upper triangle.
bool Factorise(MatrixRef a, MatrixRef inverse) {
  const Index n = a.rows();
  if (n <= kBase) return FactoriseBase(a, inverse);
  const Index panel = n <= kSmall ? kBase : kPanel;
  for (Index p = 0; p < n; p += panel) {
    const Index width = std::min(panel, n - p), below = n - p - width;
    const auto left = a.block(p, 0, width, p);
    Multiply({.c = Part::kLower}, -1, a.bottomLeftCorner(n - p, p), left.transpose(), Write::kAdd,
             a.block(p, p, n - p, width));
    auto own_inverse = inverse.block(p, p, width, width);
    if (!Factorise(a.block(p, p, width, width), own_inverse)) return false;
    auto under = a.block(p + width, p, below, width);
    TimesLowerTransposed(under, own_inverse, under);
    auto left_inverse = inverse.block(p, 0, width, p);  // −L₂₂⁻¹ L₂₁ L₁₁⁻¹
    LowerTimes(own_inverse, left, left_inverse, -1);
    TimesLower(left_inverse, inverse.topLeftCorner(p, p), left_inverse);
  }
  return true;
}

}  // namespace

absl::StatusOr<double> CholeskyWithInverse(MatrixRef a, MatrixRef inverse, absl::string_view name, Matrix* scratch) {
  if (a.rows() == 0) return 0.0;
  const double scale = a.diagonal().mean();
  if (!(std::isfinite(scale) && scale > 0)) {
    return absl::InternalError(absl::StrFormat("%s (%d×%d): mean diagonal is %g, want a finite positive number", name,
                                               a.rows(), a.cols(), scale));
  }
  Matrix own_scratch;
  Matrix& original = scratch != nullptr ? *scratch : own_scratch;
  original = a;
  inverse.setZero();
  for (double jitter = 0; jitter <= 1.5 * kLastJitter; jitter = jitter == 0 ? kFirstJitter : 10 * jitter) {
    if (jitter > 0) {
      a = original;
      a.diagonal().array() += jitter * scale;
    }
    if (Factorise(a, inverse)) return jitter;
  }
  return absl::InternalError(
      absl::StrFormat("%s (%d×%d) is not positive definite: tried jitter 0 and %g…%g times its mean diagonal %g", name,
                      a.rows(), a.cols(), kFirstJitter, kLastJitter, scale));
}

void LowerTransposeTimesLower(const ConstMatrixRef& l, MatrixRef result, double scale) {
  Multiply({.a = Part::kUpper, .b = Part::kLower, .c = Part::kLower}, scale, l.transpose(), l, Write::kSet, result);
}

}  // namespace fidelio
