// Between symmetric matrices and packed pairs (the strict lower triangle, column by column).
#ifndef FIDELIO_CORE_LINALG_PACKED_H_
#define FIDELIO_CORE_LINALG_PACKED_H_

#include "core/base/types.h"

namespace fidelio {

// pairs = scale · strict lower triangle of a.
inline void PackPairs(const ConstMatrixRef& a, double scale, Eigen::ArrayXd& pairs) {
  const Eigen::Index n = a.rows();
  pairs.resize(n * (n - 1) / 2);
  for (Eigen::Index j = 0, at = 0; j + 1 < n; at += n - 1 - j, ++j) {
    pairs.segment(at, n - 1 - j) = scale * a.col(j).tail(n - 1 - j).array();
  }
}

// Lower triangle of a = diagonal and scale · pairs.
inline void UnpackLower(const Eigen::ArrayXd& pairs, const ConstVectorRef& diagonal, double scale, MatrixRef a) {
  const Eigen::Index n = a.rows();
  for (Eigen::Index j = 0, at = 0; j < n; at += n - 1 - j, ++j) {
    a(j, j) = diagonal[j];
    a.col(j).tail(n - 1 - j) = scale * pairs.segment(at, n - 1 - j).matrix();
  }
}

// The same, with the upper triangle mirrored.
inline void UnpackSymmetric(const Eigen::ArrayXd& pairs, const ConstVectorRef& diagonal, double scale, MatrixRef a) {
  UnpackLower(pairs, diagonal, scale, a);
  a.triangularView<Eigen::StrictlyUpper>() = a.transpose();
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_PACKED_H_
