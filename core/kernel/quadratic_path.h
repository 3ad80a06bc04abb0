// QuadraticPath: a function drawn from the zero-mean Gaussian process with the kernel p + c·p², p(z, z') = z·z'.
//
//   f(z) = w·z + √c zᵀ W z,   w (D) and W (D×D) of independent standard normals
//
// exactly, with c ≥ 0. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_KERNEL_QUADRATIC_PATH_H_
#define FIDELIO_CORE_KERNEL_QUADRATIC_PATH_H_

#include "core/base/random.h"
#include "core/base/types.h"

namespace fidelio {

class QuadraticPath {
 public:
  QuadraticPath(int dimension, double curvature, Random& random);

  // At the rows of z (n×D).
  Vector Evaluate(const Matrix& z) const;

 private:
  Vector linear_;
  Matrix quadratic_;  // √c W
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_QUADRATIC_PATH_H_
