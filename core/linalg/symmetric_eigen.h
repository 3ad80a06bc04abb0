// The eigenvalues and eigenvectors of a symmetric matrix.
#ifndef FIDELIO_CORE_LINALG_SYMMETRIC_EIGEN_H_
#define FIDELIO_CORE_LINALG_SYMMETRIC_EIGEN_H_

#include <functional>
#include <vector>

#include "core/base/types.h"

namespace fidelio {

struct SymmetricEigen {
  Vector values;   // n, from the largest down
  Matrix vectors;  // n×n, orthonormal; column i belongs to values[i]
};

// Chooses the eigenvectors to compute, given all eigenvalues: their numbers, in any order.
using ChooseVectors = std::function<std::vector<int>(const Vector& values)>;

// a = vectors·diag(values)·vectorsᵀ. Reads the lower triangle of a, which must be finite. Results do not depend on the
// number of threads (0: all cores).
SymmetricEigen EigenOfSymmetric(const Matrix& a, int threads = 1);

// The same with those vectors alone that `choose`, called once, asks for, in its order: a few cost half of the time of
// all.
SymmetricEigen EigenOfSymmetric(const Matrix& a, const ChooseVectors& choose, int threads = 1);

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_SYMMETRIC_EIGEN_H_
