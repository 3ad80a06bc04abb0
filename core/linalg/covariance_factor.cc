#include "core/linalg/covariance_factor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "core/linalg/cholesky.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Cholesky with pivots: O(n r²).
Matrix PivotedFactor(const Matrix& covariance) {
  const Index n = covariance.rows();
  Matrix factor(n, n);
  Vector rest = covariance.diagonal(), column;
  double rounding = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * rest.maxCoeff();
  Index rank = 0;
  for (; rank < n; ++rank) {
    Index at = 0;
    const double pivot = rest.maxCoeff(&at);
    if (!(pivot > rounding)) break;
    column = covariance.col(at);
    column.noalias() -= factor.leftCols(rank) * factor.row(at).head(rank).transpose();
    column[at] = pivot;
    for (Index i = 0; i < n; ++i) {
      const double bound = std::sqrt(pivot * std::max(rest[i], 0.0));
      rounding = std::max(rounding, std::abs(column[i]) - bound);
      column[i] = std::clamp(column[i], -bound, bound);
    }
    factor.col(rank) = column / std::sqrt(pivot);
    rest -= factor.col(rank).cwiseAbs2();
    rest[at] = 0;
  }
  return factor.leftCols(rank);
}

}  // namespace

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
  covariance = PivotedFactor(covariance);
  return absl::OkStatus();
}

}  // namespace fidelio
