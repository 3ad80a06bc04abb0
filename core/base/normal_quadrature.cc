#include "core/base/normal_quadrature.h"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace fidelio {

NormalQuadrature::NormalQuadrature(int n) {
  // Golub and Welsch: eigenvalues of the Jacobi matrix of the (normalised) Hermite polynomials.
  Matrix jacobi = Matrix::Zero(n, n);
  for (int i = 1; i < n; ++i) jacobi(i, i - 1) = jacobi(i - 1, i) = std::sqrt(static_cast<double>(i));
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(jacobi);
  node = 0.5 * (eigen.eigenvalues() - eigen.eigenvalues().reverse());
  weight = eigen.eigenvectors().row(0).cwiseAbs2().transpose();
  weight = 0.5 * (weight + weight.reverse()).eval();
  weight /= weight.sum();
}

Matrix HermitePolynomials(const Vector& node) {
  const Eigen::Index n = node.size();
  Matrix h(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double root = std::sqrt(static_cast<double>(k));
    if (k == 0) {
      h.row(k).setOnes();
    } else if (k == 1) {
      h.row(k) = node.transpose();
    } else {
      h.row(k) =
          (node.transpose().cwiseProduct(h.row(k - 1)) - std::sqrt(static_cast<double>(k - 1)) * h.row(k - 2)) / root;
    }
  }
  return h;
}

}  // namespace fidelio
