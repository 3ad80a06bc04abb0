// Solves with the covariance of a few dozen neighbours.
//
// Jitter as in core/linalg/cholesky.h: relative to the mean diagonal, first none, then 1e-14, 1e-13, …, 1e-6.
#ifndef FIDELIO_CORE_NEIGHBOUR_LOCAL_FACTOR_H_
#define FIDELIO_CORE_NEIGHBOUR_LOCAL_FACTOR_H_

#include <Eigen/Cholesky>

#include "core/base/types.h"
#include "core/linalg/cholesky.h"

namespace fidelio {

// Replaces the lower triangle of k by its Cholesky factor; returns the jitter, or −1 when the last was not enough.
inline double FactoriseInPlace(Eigen::Ref<Matrix> k) {
  if (k.rows() == 0) return 0;
  const Matrix original = k;
  const double diagonal = k.diagonal().mean();
  for (double jitter = 0; jitter <= 1.01 * kLastJitter; jitter = jitter > 0 ? 10 * jitter : kFirstJitter) {
    if (jitter > 0) k = original;
    k.diagonal().array() += jitter * diagonal;
    if (Eigen::LLT<Eigen::Ref<Matrix>>(k).info() == Eigen::Success) return jitter;
  }
  return -1;
}

// right = k⁻¹ right; k (lower triangle) is consumed. Returns the jitter. A matrix that even the last jitter does not make
// positive definite gives zeros: the neighbours then say nothing.
template <typename Right>
double SolveInPlace(Eigen::Ref<Matrix> k, Right& right) {
  const double jitter = FactoriseInPlace(k);
  if (jitter < 0) {
    right.setZero();
    return kLastJitter;
  }
  k.template triangularView<Eigen::Lower>().solveInPlace(right);
  k.template triangularView<Eigen::Lower>().transpose().solveInPlace(right);
  return jitter;
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_LOCAL_FACTOR_H_
