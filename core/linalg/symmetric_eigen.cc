#include "core/linalg/symmetric_eigen.h"

#include <Eigen/Eigenvalues>

namespace fidelio {

SymmetricEigen EigenOfSymmetric(const Matrix& a) {
  if (a.rows() == 0) return {};
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(a);
  return {solver.eigenvalues().reverse(), solver.eigenvectors().rowwise().reverse()};
}

}  // namespace fidelio
