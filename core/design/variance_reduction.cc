#include "core/design/variance_reduction.h"

#include "core/base/status_macros.h"
#include "core/linalg/cholesky.h"
#include "core/linalg/triangular.h"

namespace fidelio {

absl::StatusOr<double> TraceReduction(const Matrix& covariance, const std::vector<int>& observed, const Vector& noise) {
  Matrix part = covariance(observed, observed);
  part.diagonal() += noise;
  Matrix inverse(part.rows(), part.cols());
  FIDELIO_ASSIGN_OR_RETURN([[maybe_unused]] const double jitter,
                           CholeskyWithInverse(part, inverse, "covariance of the design"));
  const Matrix cross = covariance(observed, Eigen::all);
  Matrix explained(cross.rows(), cross.cols());
  LowerTimes(inverse, cross, explained);
  return explained.squaredNorm();
}

}  // namespace fidelio
