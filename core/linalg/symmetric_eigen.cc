#include "core/linalg/symmetric_eigen.h"

#include <algorithm>
#include <cmath>

#include "core/linalg/tridiagonal.h"
#include "core/linalg/tridiagonal_eigen.h"

namespace fidelio {

SymmetricEigen EigenOfSymmetric(const Matrix& a, int threads) {
  if (a.size() == 0) return {};
  // Squares of elements must neither overflow nor vanish.
  const Eigen::Index n = a.rows();
  double largest = 0;
  for (Eigen::Index j = 0; j < n; ++j) largest = std::max(largest, a.col(j).tail(n - j).cwiseAbs().maxCoeff());
  int exponent = 0;
  std::frexp(largest, &exponent);
  const Tridiagonal tridiagonal(std::ldexp(1.0, -exponent) * a, threads);
  SymmetricEigen eigen = EigenOfTridiagonal(tridiagonal.diagonal(), tridiagonal.beside(), threads);
  eigen.values = (std::ldexp(1.0, exponent) * eigen.values).reverse().eval();
  for (Eigen::Index j = 0; j < n / 2; ++j) eigen.vectors.col(j).swap(eigen.vectors.col(n - 1 - j));
  tridiagonal.TimesBasis(eigen.vectors, threads);
  return eigen;
}

}  // namespace fidelio
