// A factor a of a covariance, a aᵀ = covariance, for drawing from N(mean, covariance) as mean + a z.
//
// By Cholesky, with its jitter. A covariance that this refuses, because of the rounding of much larger numbers that it
// is the difference of (inputs where nearly everything is known), is factorised from its largest diagonal element down,
// until what is left is of the size by which its elements contradict |c_ij| ≤ √(c_ii c_jj); that rest is left out. No
// variance grows.
#ifndef FIDELIO_CORE_LINALG_COVARIANCE_FACTOR_H_
#define FIDELIO_CORE_LINALG_COVARIANCE_FACTOR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"

namespace fidelio {

// Overwrites the symmetric n×n `covariance` by a: n×r, r ≤ n. INTERNAL, with its name, when it is not finite.
absl::Status FactoriseCovariance(Matrix& covariance, absl::string_view name);

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_COVARIANCE_FACTOR_H_
