#include "core/gp/whitening.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/linalg/cholesky.h"

namespace fidelio {

using Eigen::Index;

void LargeMultiply(int threads, const Parts& parts, double scale, const Factor& a, const Factor& b, Write write,
                   MatrixRef c) {
  constexpr double kWorthThreads = 1e7;  // multiplications; below, starting a thread costs more than it saves
  constexpr Index kWidth = 256;
  const bool lower = parts.c == Part::kLower && parts.a == Part::kAll;
  const bool whole = parts.b == Part::kAll && (parts.c == Part::kAll || lower);
  if (!whole ||
      static_cast<double>(a.rows) * static_cast<double>(a.columns) * static_cast<double>(c.cols()) < kWorthThreads) {
    Multiply(parts, scale, a, b, write, c);
    return;
  }
  ParallelFor(static_cast<int>((c.cols() + kWidth - 1) / kWidth), threads, [&](int block) {
    const Index first = block * kWidth, width = std::min(kWidth, c.cols() - first);
    const Index above = lower ? first : 0;  // rows that these columns do not need
    Factor own_a = a, own_b = b;
    own_a.data += above * a.row_stride;
    own_a.rows -= above;
    own_b.data += first * b.column_stride;
    own_b.columns = width;
    Multiply(parts, scale, own_a, own_b, write, c.block(above, first, c.rows() - above, width));
  });
}

absl::Status Whitening::Factorise(const Matrix& k_zz, double jitter, int threads, absl::string_view name) {
  threads_ = threads;
  jitter_ = jitter;
  factor_ = k_zz;
  factor_.diagonal() *= 1 + jitter;
  inverse_.resize(k_zz.rows(), k_zz.rows());
  inner_.setZero(k_zz.rows(), k_zz.rows());
  FIDELIO_ASSIGN_OR_RETURN(extra_, CholeskyWithInverse(factor_, inverse_, name, &scratch_));
  return absl::OkStatus();
}

void Whitening::Apply(const ConstMatrixRef& k, Matrix& a, Part part) const {
  a.resize(k.rows(), k.cols());
  LargeMultiply(threads_, {.a = Part::kLower, .b = part}, 1, inverse_, k, Write::kSet, a);
}

void Whitening::Reverse(const Matrix& a, const Matrix& a_bar, Matrix& k_bar, Part part) {
  k_bar.resize(a.rows(), a.cols());
  const bool lower = part == Part::kLower;
  LargeMultiply(threads_, {.a = Part::kUpper, .b = part, .c = part}, 1, inverse_.transpose(), a_bar, Write::kSet,
                k_bar);
  LargeMultiply(threads_, {.a = part, .b = lower ? Part::kUpper : Part::kAll, .c = Part::kLower}, 1, a_bar,
                a.transpose(), Write::kAdd, inner_);
}

void Whitening::Finish(Matrix& k_zz_bar) {
  // With dA = −L⁻¹ dL A: ∂F/∂K = −sym(L⁻ᵀ Φ(A_bar Aᵀ) L⁻¹), Φ: the lower triangle with half its diagonal.
  const Index m = inner_.rows();
  k_zz_bar.resize(m, m);
  if (m == 0) return;
  inner_.triangularView<Eigen::StrictlyUpper>().setZero();
  inner_.diagonal() *= 0.5;
  scratch_.resize(m, m);
  Multiply({.a = Part::kLower, .b = Part::kLower}, 1, inner_, inverse_, Write::kSet, scratch_);
  LargeMultiply(threads_, {.a = Part::kUpper}, -1, inverse_.transpose(), scratch_, Write::kSet, k_zz_bar);
  scratch_ = 0.5 * (k_zz_bar + k_zz_bar.transpose());
  k_zz_bar.swap(scratch_);
  k_zz_bar.diagonal() *= 1 + jitter_;
}

}  // namespace fidelio
