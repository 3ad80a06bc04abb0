#include "core/linalg/tridiagonal.h"

#include <Eigen/Householder>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/parallel.h"
#include "core/linalg/lanes.h"
#include "core/linalg/parallel_product.h"
#include "core/linalg/product.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr Index kReductionPanel = 48;
constexpr Index kReflections = 192;  // that are applied at a time

// `width` columns, from `first`, of the lower triangle of a, and the rows that mirror them: y += a·x.
template <int width>
void AddColumns(const ConstMatrixRef& a, Index first, const double* x, double* y) {
  const double* columns[width];
  double factor[width];
  LaneSum sums[width];
  for (int c = 0; c < width; ++c) {
    columns[c] = a.col(first + c).data();
    factor[c] = x[first + c];
    // The corner at the diagonal, one by one.
    y[first + c] += columns[c][first + c] * factor[c];
    for (Index i = first + c + 1; i < first + width; ++i) {
      y[i] += columns[c][i] * factor[c];
      sums[c].rest += columns[c][i] * x[i];
    }
  }
  ForEachLane(first + width, a.rows(), [&]<typename T>(Index i) {
    const T xi = Load<T>(x + i);
    T yi = Load<T>(y + i);
    Unrolled<width>([&](int c) {
      const T element = Load<T>(columns[c] + i);
      yi += element * factor[c];
      sums[c] += T(element * xi);
    });
    Store(yi, y + i);
  });
  for (int c = 0; c < width; ++c) y[first + c] += sums[c].Total();
}

// y = a·x for a symmetric a, of which the lower triangle is read, once. Work is cut into parts of about the same size.
void SymmetricTimes(const ConstMatrixRef& a, const Vector& x, int threads, Matrix& scratch, Eigen::Ref<Vector> y) {
  constexpr Index kColumns = 4, kParts = 4, kLarge = 600;
  const Index n = a.rows(), parts = n < kLarge ? 1 : kParts;
  scratch.setZero(n, parts);
  const auto border = [&](Index part) {
    const double left = 1 - static_cast<double>(part) / static_cast<double>(parts);
    return part == parts ? n : static_cast<Index>(static_cast<double>(n) * (1 - std::sqrt(left))) / kColumns * kColumns;
  };
  ParallelFor(static_cast<int>(parts), threads, [&](int part) {
    double* const to = &scratch(0, part);
    Index j = border(part);
    for (const Index end = border(part + 1); j < end; j += kColumns) {
      if (j + kColumns <= end) {
        AddColumns<kColumns>(a, j, x.data(), to);
      } else {
        for (Index rest = j; rest < end; ++rest) AddColumns<1>(a, rest, x.data(), to);
      }
    }
  });
  y = scratch.rowwise().sum();
}

}  // namespace

Tridiagonal::Tridiagonal(Matrix a, int threads) : a_(std::move(a)) {
  const Index n = a_.rows();
  diagonal_.resize(n);
  beside_.resize(std::max<Index>(n - 1, 0));
  scale_.resize(beside_.size());
  // Within a panel, a is what it was at its beginning, less v wᵀ + w vᵀ: wide and swapped hold [v w] and [w v].
  Matrix wide, swapped, scratch;
  for (Index first = 0; first < n; first += kReductionPanel) {
    const Index count = std::min(kReductionPanel, n - first), m = n - first;
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
      SymmetricTimes(a_.bottomRightCorner(below, below), reflection, threads, scratch, product);
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
    MultiplyOnThreads(threads, Part::kLower, -1, wide.bottomRows(rest), swapped.bottomRows(rest).transpose(),
                      Write::kAdd, a_.bottomRightCorner(rest, rest));
  }
}

Matrix Tridiagonal::Reflections(Index first, Index count) const {
  const Index rows = a_.rows() - 1 - first;
  Matrix v = a_.block(first + 1, first, rows, count);
  for (Index i = 1; i < count; ++i) v.col(i).head(i).setZero();
  return v;
}

void Tridiagonal::TimesBasis(MatrixRef z, int threads) const {
  const Index n = a_.rows(), reflections = std::max<Index>(n - 1, 0);
  Matrix along, combined;
  for (Index end = reflections; end > 0;) {
    const Index first = (end - 1) / kReflections * kReflections, count = end - first;
    // The product of the reflections is I − v·t·vᵀ with an upper triangular t.
    const Matrix v = Reflections(first, count), transposed = v.transpose();
    Matrix gram(count, count), t = Matrix::Zero(count, count);
    Multiply({.c = Part::kLower}, 1, transposed, v, Write::kSet, gram);
    for (Index i = 0; i < count; ++i) {
      t(i, i) = scale_[first + i];
      t.col(i).head(i).noalias() =
          t.topLeftCorner(i, i).triangularView<Eigen::Upper>() * gram.row(i).head(i).transpose();
      t.col(i).head(i) *= -scale_[first + i];
    }
    MatrixRef rows = z.bottomRows(v.rows());
    along.resize(count, z.cols());
    combined.resize(count, z.cols());
    MultiplyOnThreads(threads, Part::kAll, 1, transposed, rows, Write::kSet, along);
    MultiplyOnThreads(threads, Part::kAll, 1, t, along, Write::kSet, combined);
    MultiplyOnThreads(threads, Part::kAll, -1, v, combined, Write::kAdd, rows);
    end = first;
  }
}

}  // namespace fidelio
