#include "core/linalg/tridiagonal.h"

#include <algorithm>
#include <utility>

#include "core/linalg/product.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kPanel = 48;

}  // namespace

Tridiagonal::Tridiagonal(Matrix a) : a_(std::move(a)) {
  const Index n = a_.rows();
  diagonal_.resize(n);
  beside_.resize(std::max<Index>(n - 1, 0));
  scale_.resize(beside_.size());
  // Within a panel, a is what it was at its beginning, less v wᵀ + w vᵀ: wide and swapped hold [v w] and [w v].
  Matrix wide, swapped;
  for (Index first = 0; first < n; first += kPanel) {
    const Index count = std::min(kPanel, n - first), m = n - first;
    wide.setZero(m, 2 * count);
    swapped.resize(m, 2 * count);
    auto v = wide.leftCols(count), w = wide.rightCols(count);
    for (Index i = 0; i < count; ++i) {
      const Index j = first + i, below = m - 1 - i;
      auto column = a_.col(j).tail(m - i);
      column.noalias() -= v.bottomRows(m - i).leftCols(i) * w.row(i).head(i).transpose();
      column.noalias() -= w.bottomRows(m - i).leftCols(i) * v.row(i).head(i).transpose();
      diagonal_[j] = column[0];
      if (below == 0) break;
      auto reflection = a_.col(j).tail(below);
      reflection.makeHouseholderInPlace(scale_[j], beside_[j]);
      reflection[0] = 1;
      v.col(i).tail(below) = reflection;
      auto product = w.col(i).tail(below);
      product.noalias() = a_.bottomRightCorner(below, below).selfadjointView<Eigen::Lower>() * reflection;
      const auto v_before = v.bottomRows(below).leftCols(i), w_before = w.bottomRows(below).leftCols(i);
      const Vector along_w = w_before.transpose() * reflection, along_v = v_before.transpose() * reflection;
      product.noalias() -= v_before * along_w;
      product.noalias() -= w_before * along_v;
      product *= scale_[j];
      product -= 0.5 * scale_[j] * product.dot(reflection) * reflection;
    }
    const Index rest = m - count;
    if (rest <= 0) break;
    swapped << w, v;
    Multiply({.c = Part::kLower}, -1, wide.bottomRows(rest), swapped.bottomRows(rest).transpose(), Write::kAdd,
             a_.bottomRightCorner(rest, rest));
  }
}

Matrix Tridiagonal::Reflections(Index first, Index count) const {
  const Index rows = a_.rows() - 1 - first;
  Matrix v = a_.block(first + 1, first, rows, count);
  for (Index i = 1; i < count; ++i) v.col(i).head(i).setZero();
  return v;
}

void Tridiagonal::TimesBasis(MatrixRef z) const {
  const Index n = a_.rows(), reflections = std::max<Index>(n - 1, 0);
  Matrix along, combined;
  for (Index end = reflections; end > 0;) {
    const Index first = (end - 1) / kPanel * kPanel, count = end - first;
    // The product of the reflections is I − v·t·vᵀ with an upper triangular t.
    const Matrix v = Reflections(first, count), gram = v.transpose() * v;
    Matrix t = Matrix::Zero(count, count);
    for (Index i = 0; i < count; ++i) {
      t(i, i) = scale_[first + i];
      t.col(i).head(i).noalias() = t.topLeftCorner(i, i).triangularView<Eigen::Upper>() * gram.col(i).head(i);
      t.col(i).head(i) *= -scale_[first + i];
    }
    MatrixRef rows = z.bottomRows(v.rows());
    along.resize(count, z.cols());
    combined.resize(count, z.cols());
    Multiply({}, 1, v.transpose(), rows, Write::kSet, along);
    Multiply({.a = Part::kUpper}, 1, t, along, Write::kSet, combined);
    Multiply({}, -1, v, combined, Write::kAdd, rows);
    end = first;
  }
}

}  // namespace fidelio
