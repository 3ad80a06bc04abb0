// LowerPanels: a matrix a that is zero above its diagonal and has at least as many rows as columns, laid out for
// products
//
//   out = a·b
//
// in panels of rows, each up to the diagonal of its last row: a product reads it in order and never sees the zeros,
// which matters when b is a single column and the reading of a all there is. Takes half the memory of a triangle in a
// matrix. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_LINALG_LOWER_PANELS_H_
#define FIDELIO_CORE_LINALG_LOWER_PANELS_H_

#include "core/base/types.h"

namespace fidelio {

class LowerPanels {
 public:
  LowerPanels() = default;
  // [triangle; rest]: n×n, of which only the lower part is read, above r×n.
  LowerPanels(const ConstMatrixRef& triangle, const ConstMatrixRef& rest);

  Eigen::Index rows() const { return rows_; }
  Eigen::Index columns() const { return columns_; }

  // b: columns()×m, out: rows()×m.
  void Times(const ConstMatrixRef& b, MatrixRef out) const;

  Matrix Dense() const;

 private:
  Eigen::Index rows_ = 0, columns_ = 0;
  Vector panels_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_LOWER_PANELS_H_
