// A factor a of a covariance, a aᵀ = covariance, for drawing from N(mean, covariance) as mean + a z.
//
// By Cholesky, with its jitter. A covariance that this refuses, because it is small beside the rounding of what it was
// computed from (points where nearly everything is known), gets the factor of the nearest positive semi-definite matrix:
// its eigenvectors, with negative eigenvalues as 0.
#ifndef FIDELIO_CORE_LINALG_COVARIANCE_FACTOR_H_
#define FIDELIO_CORE_LINALG_COVARIANCE_FACTOR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"

namespace fidelio {

// Overwrites the symmetric n×n `covariance` by a. INTERNAL, with its name, when it is not finite.
absl::Status FactoriseCovariance(Matrix& covariance, absl::string_view name);

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_COVARIANCE_FACTOR_H_
