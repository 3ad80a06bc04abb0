#include "core/linalg/symmetric_eigen.h"

#include <cmath>

#include "core/linalg/tridiagonal.h"
#include "core/linalg/tridiagonal_eigen.h"

namespace fidelio {

SymmetricEigen EigenOfSymmetric(const Matrix& a, int threads) {
  if (a.size() == 0) return {};
  // Squares of elements must neither overflow nor vanish.
  int exponent = 0;
  std::frexp(a.triangularView<Eigen::Lower>().toDenseMatrix().cwiseAbs().maxCoeff(), &exponent);
  const Tridiagonal tridiagonal(std::ldexp(1.0, -exponent) * a, threads);
  SymmetricEigen eigen = EigenOfTridiagonal(tridiagonal.diagonal(), tridiagonal.beside(), threads);
  eigen.values = (std::ldexp(1.0, exponent) * eigen.values).reverse().eval();
  eigen.vectors = eigen.vectors.rowwise().reverse().eval();
  tridiagonal.TimesBasis(eigen.vectors, threads);
  return eigen;
}

}  // namespace fidelio
