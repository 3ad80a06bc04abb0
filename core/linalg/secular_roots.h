// The eigenvalues and eigenvectors of diag(d) + z zᵀ.
#ifndef FIDELIO_CORE_LINALG_SECULAR_ROOTS_H_
#define FIDELIO_CORE_LINALG_SECULAR_ROOTS_H_

#include "core/base/types.h"

namespace fidelio {

struct SecularRoots {
  Vector values;  // ascending: values[i] lies between d[i] and d[i+1], the last between d[k−1] and d[k−1] + ‖z‖²
  Matrix vectors;  // k×k, orthonormal to rounding however close the eigenvalues are
};

// d: ascending, with gaps, and z without zeros, both by more than rounding (the deflation of EigenOfTridiagonal).
SecularRoots SolveSecular(const Vector& d, const Vector& z, int threads);

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_SECULAR_ROOTS_H_
