#include "core/linalg/covariance_factor.h"

#include <Eigen/Eigenvalues>

#include "absl/strings/str_format.h"
#include "core/linalg/cholesky.h"

namespace fidelio {

absl::Status FactoriseCovariance(Matrix& covariance, absl::string_view name) {
  if (!covariance.allFinite()) {
    return absl::InternalError(absl::StrFormat("%s (%d×%d) is not finite", name, covariance.rows(), covariance.cols()));
  }
  Matrix factor = covariance;
  {
    Matrix inverse(covariance.rows(), covariance.cols());
    if (CholeskyWithInverse(factor, inverse, name).ok()) {
      covariance = factor.triangularView<Eigen::Lower>();
      return absl::OkStatus();
    }
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(covariance);
  covariance = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
  return absl::OkStatus();
}

}  // namespace fidelio
