#include "core/linalg/pivoted_cholesky.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/parallel.h"

namespace fidelio {

using Eigen::Index;

// Elements of the factor from which on several threads pay, and the parts of its rows that they take.
constexpr Index kLarge = 200000, kParts = 2;

PivotedCholesky::PivotedCholesky(Vector diagonal, Column column, int threads)
    : column_(std::move(column)),
      diagonal_(std::move(diagonal)),
      rest_(diagonal_),
      work_(diagonal_.size()),
      factor_(diagonal_.size(), std::min<Index>(diagonal_.size(), 64)),
      noise_(static_cast<double>(diagonal_.size()) * std::numeric_limits<double>::epsilon()),
      threads_(threads) {}

PivotedCholesky::PivotedCholesky(const Matrix& a)
    : PivotedCholesky(a.diagonal(), [&a](Index i, Eigen::Ref<Vector> column) { column = a.col(i); }) {}

bool PivotedCholesky::Grow() {
  Index at = -1;
  for (Index i = 0; i < diagonal_.size(); ++i) {
    if (rest_[i] > (at < 0 ? 0 : rest_[at]) && rest_[i] > noise_ * diagonal_[i]) at = i;
  }
  return at >= 0 && GrowAt(at);
}

bool PivotedCholesky::GrowAt(Index at) {
  const Index n = diagonal_.size(), r = rank();
  const double pivot = rest_[at];
  if (!(pivot > noise_ * diagonal_[at])) return false;
  column_(at, work_);
  const Vector row = factor_.row(at).head(r);
  const Index parts = n * r < kLarge ? 1 : kParts, rows = (n + parts - 1) / parts;
  ParallelFor(static_cast<int>(parts), threads_, [&](int part) {
    const Index begin = part * rows, size = std::min(rows, n - begin);
    work_.segment(begin, size).noalias() -= factor_.block(begin, 0, size, r) * row;
  });
  if (r == factor_.cols()) factor_.conservativeResize(Eigen::NoChange, std::min(n, 2 * r));
  const double root = std::sqrt(pivot), root_of_diagonal = std::sqrt(diagonal_[at]);
  double* const column = &factor_(0, r);
  for (Index i = 0; i < n; ++i) {
    const double bound = std::sqrt(rest_[i]), value = work_[i] / root;
    column[i] = std::clamp(value, -bound, bound);
    const double excess = (std::abs(value) - bound) * root;
    if (excess > noise_ * std::sqrt(diagonal_[i]) * root_of_diagonal && i != at) {
      noise_ = excess / (std::sqrt(diagonal_[i]) * root_of_diagonal);
    }
    rest_[i] = std::max(rest_[i] - column[i] * column[i], 0.0);
  }
  column[at] = root;
  rest_[at] = 0;
  pivots_.push_back(static_cast<int>(at));
  pivot_values_.push_back(pivot);
  return true;
}

void PivotedCholesky::GrowTo(double tolerance, Index most) {
  while (rank() < most && rest_trace() > tolerance && Grow()) {
  }
}

}  // namespace fidelio
