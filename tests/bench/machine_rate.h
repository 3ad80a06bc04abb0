// How fast this machine multiplies and factorises matrices on one core: the yardstick of the speed benches. Compiled for the
// machine that it is built on, in a library of its own.
#ifndef FIDELIO_TESTS_BENCH_MACHINE_RATE_H_
#define FIDELIO_TESTS_BENCH_MACHINE_RATE_H_

#include "core/base/types.h"

namespace fidelio {

struct MachineRate {
  double gemm_gflops = 0;      // n×n times n×n, 2n³ operations
  double cholesky_gflops = 0;  // Eigen's factorisation of an n×n matrix, n³/3 operations
};

// The best of several runs over about `seconds`. Requires n ≥ 1.
MachineRate MeasureMachineRate(int n, double seconds);

// What Eigen's SelfAdjointEigenSolver takes for all eigenvectors of a symmetric matrix.
double EigenSolverSeconds(const Matrix& a);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_BENCH_MACHINE_RATE_H_
