#include "core/linalg/covariance_factor.h"

#include "absl/strings/str_format.h"
#include "core/linalg/cholesky.h"
#include "core/linalg/pivoted_cholesky.h"

namespace fidelio {

absl::Status FactoriseCovariance(Matrix& covariance, absl::string_view name) {
  if (!covariance.allFinite()) {
    return absl::InternalError(absl::StrFormat("%s (%d×%d) is not finite", name, covariance.rows(), covariance.cols()));
  }
  if (covariance.size() == 0) return absl::OkStatus();
  {
    Matrix factor = covariance, inverse(covariance.rows(), covariance.cols());
    if (CholeskyWithInverse(factor, inverse, name).ok()) {
      covariance = factor.triangularView<Eigen::Lower>();
      return absl::OkStatus();
    }
  }
  // Rounding may have left negative variances.
  PivotedCholesky cholesky(covariance.diagonal().cwiseMax(0),
                           [&](Eigen::Index i, Eigen::Ref<Vector> column) { column = covariance.col(i); });
  cholesky.GrowTo(0, covariance.rows());
  covariance = cholesky.factor();
  return absl::OkStatus();
}

}  // namespace fidelio
