// Products of which half is known to be zero or not needed. A lower triangular l has a zero strict upper triangle.
#ifndef FIDELIO_CORE_LINALG_TRIANGULAR_H_
#define FIDELIO_CORE_LINALG_TRIANGULAR_H_

#include "core/base/types.h"
#include "core/linalg/product.h"

namespace fidelio {

// out = a·l. May be done in place.
inline void TimesLower(const ConstMatrixRef& a, const ConstMatrixRef& l, MatrixRef out) {
  Multiply({.b = Part::kLower}, 1, a, l, Write::kSet, out);
}

// out = a·lᵀ. May be done in place.
inline void TimesLowerTransposed(const ConstMatrixRef& a, const ConstMatrixRef& l, MatrixRef out) {
  Multiply({.b = Part::kUpper}, 1, a, l.transpose(), Write::kSet, out);
}

// out = scale·l·a.
inline void LowerTimes(const ConstMatrixRef& l, const ConstMatrixRef& a, MatrixRef out, double scale = 1) {
  Multiply({.a = Part::kLower}, scale, l, a, Write::kSet, out);
}

// Lower triangle of out += a·b (the strict upper triangle becomes scratch).
inline void AddToLower(const Factor& a, const Factor& b, MatrixRef out) {
  Multiply({.c = Part::kLower}, 1, a, b, Write::kAdd, out);
}

// Lower triangle of out −= a·aᵀ (the strict upper triangle becomes scratch).
inline void SubtractGram(const ConstMatrixRef& a, MatrixRef out) {
  Multiply({.c = Part::kLower}, -1, a, a.transpose(), Write::kAdd, out);
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_TRIANGULAR_H_
