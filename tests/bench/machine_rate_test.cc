#include "tests/bench/machine_rate.h"

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(MachineRateTest, IsPositiveForAnySize) {
  for (int n : {1, 64}) {
    const MachineRate rate = MeasureMachineRate(n, 0.001);
    EXPECT_GT(rate.gemm_gflops, 0);
    EXPECT_GT(rate.cholesky_gflops, 0);
  }
}

TEST(MachineRateTest, EigenSolverTakesTime) { EXPECT_GT(EigenSolverSeconds(Matrix::Identity(8, 8)), 0); }

}  // namespace
}  // namespace fidelio
