// The eigenvalues and eigenvectors of a symmetric matrix.
#ifndef FIDELIO_CORE_LINALG_SYMMETRIC_EIGEN_H_
#define FIDELIO_CORE_LINALG_SYMMETRIC_EIGEN_H_

#include "core/base/types.h"

namespace fidelio {

struct SymmetricEigen {
  Vector values;   // n, from the largest down
  Matrix vectors;  // n×n, orthonormal; column i belongs to values[i]
};

// a = vectors·diag(values)·vectorsᵀ. Reads the lower triangle of a, which must be finite. Results do not depend on the number of
// threads (0: all cores).
SymmetricEigen EigenOfSymmetric(const Matrix& a, int threads = 1);

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_SYMMETRIC_EIGEN_H_
