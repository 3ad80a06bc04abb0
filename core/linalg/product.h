// Products of matrices of which a part is known to be zero or is not needed:
//
//   c = scale·a·b     or     c += scale·a·b
//
// Small products run in register tiles straight from the operands: at some tens of rows, the packing of a general
// product costs as much as the product. Large ones are cut into packed blocks that fit the caches.
#ifndef FIDELIO_CORE_LINALG_PRODUCT_H_
#define FIDELIO_CORE_LINALG_PRODUCT_H_

#include "core/base/types.h"

namespace fidelio {

enum class Part { kAll, kLower, kUpper };

// Of a and b: where they are not zero (the rest must hold zeros). Of c: what is needed (the rest becomes scratch).
struct Parts {
  Part a = Part::kAll, b = Part::kAll, c = Part::kAll;
};

enum class Write { kSet, kAdd };

// A column-major matrix, or the transpose of one.
struct Factor {
  const double* data;
  Eigen::Index rows, columns, row_stride, column_stride;

  template <typename Expression>
  Factor(const Expression& x)  // NOLINT(google-explicit-constructor): any matrix, block or transpose
      : data(x.data()), rows(x.rows()), columns(x.cols()), row_stride(x.rowStride()), column_stride(x.colStride()) {}
};

// a: m×k, b: k×n, c: m×n. c may be a itself if b is triangular.
void Multiply(const Parts& parts, double scale, const Factor& a, const Factor& b, Write write, MatrixRef c);

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_PRODUCT_H_
