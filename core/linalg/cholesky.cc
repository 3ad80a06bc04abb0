#include "core/linalg/cholesky.h"

#include <cmath>

#include "absl/strings/str_format.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kBase = 16;  // below this, plain loops beat calls of the product kernels

// Where a block is split: a multiple of the vector width near the middle.
Index Half(Index n) { return n <= 2 * kBase ? kBase : (n / 2 + 7) / 8 * 8; }

bool FactoriseBase(MatrixRef a, MatrixRef inverse) {
  const Index n = a.rows();
  for (Index j = 0; j < n; ++j) {
    const double pivot = a(j, j);
    if (!(pivot > 0 && std::isfinite(pivot))) return false;
    const double root = std::sqrt(pivot);
    const double scale = 1 / root;
    const Index below = n - 1 - j;
    a(j, j) = root;
    a.col(j).tail(below) *= scale;
    for (Index k = j + 1; k < n; ++k) a.col(k).tail(n - k).noalias() -= a(k, j) * a.col(j).tail(n - k);
  }
  // L⁻¹ column by column: forward substitution on unit vectors.
  for (Index j = 0; j < n; ++j) {
    auto x = inverse.col(j);
    x.setZero();
    x[j] = 1;
    for (Index k = j; k < n; ++k) {
      x[k] /= a(k, k);
      x.tail(n - 1 - k).noalias() -= x[k] * a.col(k).tail(n - 1 - k);
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
  i21.noalias() = a21 * i11.transpose();  // L21 = A21 L11⁻ᵀ, with inverse's block as scratch
  a21 = i21;
  auto a22 = a.bottomRightCorner(r, r);
  if (r <= 96) {
    a22.noalias() -= a21 * a21.transpose();  // both triangles: cheaper than half of it at this size
  } else {
    a22.selfadjointView<Eigen::Lower>().rankUpdate(a21, -1);
  }
  if (!Factorise(a22, i22)) return false;
  const Matrix l21_i11 = a21 * i11;
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
  auto r11 = result.topLeftCorner(h, h);
  if (h <= 96) {
    r11.noalias() += l21.transpose() * l21;
  } else {
    r11.selfadjointView<Eigen::Lower>().rankUpdate(l21.transpose());
  }
}

}  // namespace fidelio
