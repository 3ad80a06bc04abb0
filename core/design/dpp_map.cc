#include "core/design/dpp_map.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linalg/pivoted_cholesky.h"

namespace fidelio {

using Eigen::Index;

absl::StatusOr<DppMap> GreedyDppMap(const Vector& diagonal, const KernelColumn& column, int k) {
  if (k < 1) return absl::InvalidArgumentError(absl::StrCat("k: ", k, ", must be at least 1"));
  for (Index i = 0; i < diagonal.size(); ++i) {
    if (!(std::isfinite(diagonal[i]) && diagonal[i] >= 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel[", i, "][", i, "]: ", diagonal[i], ", must be finite and at least 0"));
    }
  }
  PivotedCholesky cholesky(diagonal, column);
  cholesky.GrowTo(/*tolerance=*/0, k);
  if (cholesky.rank() < k) {
    return absl::InvalidArgumentError(absl::StrCat("k: ", k, ", but the kernel of ", diagonal.size(),
                                                   " candidates has the numerical rank ", cholesky.rank()));
  }
  DppMap map{.indices = cholesky.pivots(), .log_determinant = 0};
  for (const double value : cholesky.pivot_values()) map.log_determinant += std::log(value);
  return map;
}

}  // namespace fidelio
