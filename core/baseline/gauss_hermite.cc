#include "core/baseline/gauss_hermite.h"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace fidelio {

// Golub and Welsch: the nodes are the eigenvalues of the three-term recurrence's matrix.
GaussHermite::GaussHermite(int count) : polynomial(count, count) {
  Matrix jacobi = Matrix::Zero(count, count);
  for (int k = 1; k < count; ++k) jacobi(k, k - 1) = jacobi(k - 1, k) = std::sqrt(k);
  node = Eigen::SelfAdjointEigenSolver<Matrix>(jacobi).eigenvalues();
  polynomial.row(0).setOnes();
  if (count > 1) polynomial.row(1) = node.transpose();
  for (int k = 2; k < count; ++k) {
    polynomial.row(k) =
        (node.transpose().cwiseProduct(polynomial.row(k - 1)) - std::sqrt(k - 1) * polynomial.row(k - 2)) /
        std::sqrt(k);
  }
  weight = polynomial.colwise().squaredNorm().cwiseInverse().transpose();
}

}  // namespace fidelio
