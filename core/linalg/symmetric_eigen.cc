#include "core/linalg/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/linalg/tridiagonal.h"
#include "core/linalg/tridiagonal_eigen.h"

namespace fidelio {

SymmetricEigen EigenOfSymmetric(const Matrix& a, int threads) {
  return EigenOfSymmetric(
      a,
      [](const Vector& values) {
        std::vector<int> all(values.size());
        std::iota(all.begin(), all.end(), 0);
        return all;
      },
      threads);
}

SymmetricEigen EigenOfSymmetric(const Matrix& a, const ChooseVectors& choose, int threads) {
  if (a.size() == 0) return {};
  // Squares of elements must neither overflow nor vanish.
  const Eigen::Index n = a.rows();
  double largest = 0;
  for (Eigen::Index j = 0; j < n; ++j) largest = std::max(largest, a.col(j).tail(n - j).cwiseAbs().maxCoeff());
  int exponent = 0;
  std::frexp(largest, &exponent);
  const Tridiagonal tridiagonal(std::ldexp(1.0, -exponent) * a, threads);
  const auto from_the_largest = [&](const Vector& ascending) {
    std::vector<int> chosen = choose((std::ldexp(1.0, exponent) * ascending).reverse());
    for (int& i : chosen) i = static_cast<int>(n) - 1 - i;
    return chosen;
  };
  SymmetricEigen eigen = EigenOfTridiagonal(tridiagonal.diagonal(), tridiagonal.beside(), from_the_largest, threads);
  eigen.values = (std::ldexp(1.0, exponent) * eigen.values).reverse().eval();
  tridiagonal.TimesBasis(eigen.vectors, threads);
  return eigen;
}

}  // namespace fidelio
