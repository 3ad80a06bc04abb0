// The reduction of a symmetric matrix to a tridiagonal one by Householder reflections, a = q·t·qᵀ, in panels: half of
// the work is matrix products (Dongarra, Hammarling & Sorensen 1989). Results do not depend on the number of threads
// (0: all cores).
#ifndef FIDELIO_CORE_LINALG_TRIDIAGONAL_H_
#define FIDELIO_CORE_LINALG_TRIDIAGONAL_H_

#include "core/base/types.h"

namespace fidelio {

class Tridiagonal {
 public:
  // Of the lower triangle of `a` (n×n, finite).
  Tridiagonal(Matrix a, int threads);

  const Vector& diagonal() const { return diagonal_; }  // n
  const Vector& beside() const { return beside_; }      // n−1, below and above the diagonal

  // z ← q·z, for z of n rows.
  void TimesBasis(MatrixRef z, int threads) const;

 private:
  // The reflections of the columns from `first`, as the columns of an (n−1−first)×count matrix.
  Matrix Reflections(Eigen::Index first, Eigen::Index count) const;

  Matrix a_;  // below the diagonal of column j: v_j, with 1 as its first element; q = Π_j (I − scale_j v_j v_jᵀ)
  Vector scale_, diagonal_, beside_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_TRIDIAGONAL_H_
