#include "core/design/variance_reduction.h"

#include "core/base/status_macros.h"
#include "core/linalg/cholesky.h"
#include "core/linalg/triangular.h"

namespace fidelio {

absl::StatusOr<double> TraceReduction(Matrix observed, const Matrix& cross, const Vector& noise) {
  observed.diagonal() += noise;
  Matrix inverse(observed.rows(), observed.cols()), explained(cross.rows(), cross.cols());
  FIDELIO_RETURN_IF_ERROR(CholeskyWithInverse(observed, inverse, "covariance of the design").status());
  LowerTimes(inverse, cross, explained);
  return explained.squaredNorm();
}

}  // namespace fidelio
