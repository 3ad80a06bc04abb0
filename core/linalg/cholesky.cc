#include "core/linalg/cholesky.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "core/linalg/triangular.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kBase = 16;  // below this, plain loops beat calls of the product kernels

// Where a block is split: a multiple of the vector width near the middle.
Index Half(Index n) { return n <= 2 * kBase ? kBase : (n / 2 + 7) / 8 * 8; }

bool FactoriseBase(MatrixRef a, MatrixRef inverse) {
  const Index n = a.rows();
  for (Index j = 0; j < n; ++j) {
    double* const aj = &a(0, j);
    if (!(aj[j] > 0 && std::isfinite(aj[j]))) return false;
    aj[j] = std::sqrt(aj[j]);
    const double scale = 1 / aj[j];
    for (Index i = j + 1; i < n; ++i) aj[i] *= scale;
    for (Index k = j + 1; k < n; ++k) {
      double* const ak = &a(0, k);
      const double factor = aj[k];
      for (Index i = k; i < n; ++i) ak[i] -= factor * aj[i];
    }
  }
  // L⁻¹ column by column: forward substitution on unit vectors.
  for (Index j = 0; j < n; ++j) {
    double* const x = &inverse(0, j);
    for (Index i = 0; i < n; ++i) x[i] = 0;
    x[j] = 1;
    for (Index k = j; k < n; ++k) {
      const double* const ak = &a(0, k);
      const double factor = x[k] /= ak[k];
      for (Index i = k + 1; i < n; ++i) x[i] -= factor * ak[i];
    }
  }
  return true;
}

bool Factorise(MatrixRef a, MatrixRef inverse) {
  const Index n = a.rows();
  if (n <= kBase) return FactoriseBase(a, inverse);
  const Index h = Half(n), r = n - h;
  auto a21 = a.bottomLeftCorner(r, h);
  auto i11 = inverse.topLeftCorner(h, h);
  auto i21 = inverse.bottomLeftCorner(r, h);
  auto i22 = inverse.bottomRightCorner(r, r);
  if (!Factorise(a.topLeftCorner(h, h), i11)) return false;
  TimesLowerTransposed(a21, i11, i21);  // L21 = A21 L11⁻ᵀ, with inverse's block as scratch
  a21 = i21;
  auto a22 = a.bottomRightCorner(r, r);
  SubtractGram(a21, a22);
  if (!Factorise(a22, i22)) return false;
  Matrix l21_i11(r, h);
  TimesLower(a21, i11, l21_i11);
  i21.noalias() = i22 * -l21_i11;
  inverse.topRightCorner(h, r).setZero();
  return true;
}

}  // namespace

absl::StatusOr<double> CholeskyWithInverse(MatrixRef a, MatrixRef inverse, absl::string_view name) {
  if (a.rows() == 0) return 0.0;
  const double scale = a.diagonal().mean();
  if (!(std::isfinite(scale) && scale > 0)) {
    return absl::InternalError(absl::StrFormat("%s (%d×%d): mean diagonal is %g, want a finite positive number", name,
                                               a.rows(), a.cols(), scale));
  }
  const Matrix original = a;
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

void LowerTransposeTimesLower(const ConstMatrixRef& l, MatrixRef result) {
  const Index n = l.rows();
  if (n <= kBase) {
    result.noalias() = l.transpose().lazyProduct(l);
    return;
  }
  const Index h = Half(n), r = n - h;
  const auto l21 = l.bottomLeftCorner(r, h);
  const auto l22 = l.bottomRightCorner(r, r);
  LowerTransposeTimesLower(l.topLeftCorner(h, h), result.topLeftCorner(h, h));
  LowerTransposeTimesLower(l22, result.bottomRightCorner(r, r));
  result.bottomLeftCorner(r, h).noalias() = l22.transpose() * l21;
  AddToLower(l21.transpose(), l21, result.topLeftCorner(h, h));
}

}  // namespace fidelio
