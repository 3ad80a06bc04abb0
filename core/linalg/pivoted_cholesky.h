// PivotedCholesky: a low-rank factor v of a positive semi-definite n×n matrix a, one column at a time, from the largest
// diagonal element of what is left of a down:
//
//   a = v vᵀ + e,   e positive semi-definite
//
// so that every |e_ij|, and the norm of e, is at most trace(e) = rest_trace().
//
// It reads the diagonal of a and the columns of its pivots, and nothing else: r columns take O(n r) memory and O(n r²)
// time. The determinant of a at the first j pivots is the product of the first j pivot values.
//
// An element i is used up when what is left of it, e_ii, is at most `noise` a_ii, at first n times the unit of
// rounding: the rank does not change when a is scaled, or its rows and columns are. Where elements of a contradict
// |e_ij| ≤ √(e_ii e_jj), because a is the rounded difference of much larger matrices, they are cut to that, and noise
// grows to the relative size of the contradiction: no e_ii becomes negative, and rounding is not taken for rank. Ties
// go to the lowest index.
#ifndef FIDELIO_CORE_LINALG_PIVOTED_CHOLESKY_H_
#define FIDELIO_CORE_LINALG_PIVOTED_CHOLESKY_H_

#include <functional>
#include <vector>

#include "core/base/types.h"

namespace fidelio {

class PivotedCholesky {
 public:
  // Writes column i of a to `column` (n).
  using Column = std::function<void(Eigen::Index i, Eigen::Ref<Vector> column)>;

  // `diagonal`: that of a, finite and ≥ 0. Columns must be finite. Results do not depend on `threads` (0: all cores).
  PivotedCholesky(Vector diagonal, Column column, int threads = 1);
  // Of a matrix at hand, which must outlive this.
  explicit PivotedCholesky(const Matrix& a);

  // Adds a column, or returns false when nothing but noise is left.
  bool Grow();
  // Adds the column of element i, which need not be the largest one left, or returns false when nothing but noise is
  // left of it.
  bool GrowAt(Eigen::Index i);
  // Adds columns until rest_trace() ≤ `tolerance`, there are `most` columns, or nothing but noise is left.
  void GrowTo(double tolerance, Eigen::Index most);

  Eigen::Index rank() const { return static_cast<Eigen::Index>(pivots_.size()); }
  // n×rank().
  Matrix factor() const { return factor_.leftCols(rank()); }
  // v_j of it.
  Matrix::ConstColXpr column(Eigen::Index j) const { return factor_.col(j); }
  // In their order, and what was left of them when they were chosen.
  const std::vector<int>& pivots() const { return pivots_; }
  const std::vector<double>& pivot_values() const { return pivot_values_; }
  // The diagonal of e, and its sum.
  const Vector& rest() const { return rest_; }
  double rest_trace() const { return rest_.sum(); }
  double noise() const { return noise_; }

 private:
  Column column_;
  Vector diagonal_, rest_, work_;
  Matrix factor_;  // its columns beyond rank() are room to grow
  std::vector<int> pivots_;
  std::vector<double> pivot_values_;
  double noise_;
  int threads_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_PIVOTED_CHOLESKY_H_
