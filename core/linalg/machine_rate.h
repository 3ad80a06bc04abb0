// How fast this machine multiplies and factorises matrices on one core: the yardstick of the speed benches. It is part
// of core because core is compiled for each instruction set, and a bench is not.
#ifndef FIDELIO_CORE_LINALG_MACHINE_RATE_H_
#define FIDELIO_CORE_LINALG_MACHINE_RATE_H_

#include "core/base/export.h"

namespace fidelio {

struct MachineRate {
  double gemm_gflops = 0;      // n×n times n×n, 2n³ operations
  double cholesky_gflops = 0;  // Eigen's factorisation of an n×n matrix, n³/3 operations
};

// The best of several runs over about `seconds`. Requires n ≥ 1.
FIDELIO_EXPORT MachineRate MeasureMachineRate(int n, double seconds);

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_MACHINE_RATE_H_
