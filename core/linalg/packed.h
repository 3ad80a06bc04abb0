// Between symmetric matrices and packed pairs (the strict lower triangle, column by column).
#ifndef FIDELIO_CORE_LINALG_PACKED_H_
#define FIDELIO_CORE_LINALG_PACKED_H_

#include "core/base/types.h"

namespace fidelio {

// body(j, first) for every column j < n−1 of the strict lower triangle: pair (i,j) is number first + i, j < i < n.
template <typename Body>
inline void ForPairColumns(Eigen::Index n, const Body& body) {
  for (Eigen::Index j = 0, at = 0; j + 1 < n; at += n - 1 - j, ++j) body(j, at - (j + 1));
}

// pairs = scale · strict lower triangle of a.
inline void PackPairs(const ConstMatrixRef& a, double scale, Eigen::ArrayXd& pairs) {
  const Eigen::Index n = a.rows();
  pairs.resize(n * (n - 1) / 2);
  ForPairColumns(n, [&](Eigen::Index j, Eigen::Index first) {
    const double* const column = a.col(j).data();
    double* const to = pairs.data() + first;
    for (Eigen::Index i = j + 1; i < n; ++i) to[i] = scale * column[i];
  });
}

// Lower triangle of a = diagonal and scale · pairs.
inline void UnpackLower(const Eigen::ArrayXd& pairs, const ConstVectorRef& diagonal, double scale, MatrixRef a) {
  const Eigen::Index n = a.rows();
  a.diagonal() = diagonal;
  ForPairColumns(n, [&](Eigen::Index j, Eigen::Index first) {
    double* const column = &a(0, j);
    const double* const from = pairs.data() + first;
    for (Eigen::Index i = j + 1; i < n; ++i) column[i] = scale * from[i];
  });
}

// The same, with the upper triangle mirrored.
inline void UnpackSymmetric(const Eigen::ArrayXd& pairs, const ConstVectorRef& diagonal, double scale, MatrixRef a) {
  const Eigen::Index n = a.rows();
  a.diagonal() = diagonal;
  ForPairColumns(n, [&](Eigen::Index j, Eigen::Index first) {
    for (Eigen::Index i = j + 1; i < n; ++i) a(i, j) = a(j, i) = scale * pairs[first + i];
  });
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_PACKED_H_
