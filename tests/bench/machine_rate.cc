#include "tests/bench/machine_rate.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace fidelio {
namespace {

// The shortest duration of body() over about `seconds`, at least two runs.
template <typename Body>
double ShortestRun(double seconds, const Body& body) {
  using Clock = std::chrono::steady_clock;
  double shortest = 0;
  double spent = 0;
  for (int run = 0; run < 2 || spent < seconds; ++run) {
    const Clock::time_point start = Clock::now();
    body();
    const double duration = std::max(1e-9, std::chrono::duration<double>(Clock::now() - start).count());
    shortest = run == 0 ? duration : std::min(shortest, duration);
    spent += duration;
  }
  return shortest;
}

}  // namespace

MachineRate MeasureMachineRate(int n, double seconds) {
  const double cube = static_cast<double>(n) * n * n;
  Matrix a = Matrix::Identity(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) a(i, j) += 1.0 / (1 + std::abs(i - j)) / n;
  }
  Matrix product(n, n);
  Eigen::LLT<Matrix> factor(n);
  MachineRate rate;
  rate.gemm_gflops = 2e-9 * cube / ShortestRun(seconds / 2, [&] { product.noalias() = a * a; });
  rate.cholesky_gflops = 1e-9 * cube / 3 / ShortestRun(seconds / 2, [&] { factor.compute(a); });
  return rate;
}

double EigenSolverSeconds(const Matrix& a) {
  Eigen::SelfAdjointEigenSolver<Matrix> solver(a.rows());
  return ShortestRun(0, [&] { solver.compute(a); });
}

}  // namespace fidelio
