// How far observations lower the variance of a Gaussian vector.
#ifndef FIDELIO_CORE_DESIGN_VARIANCE_REDUCTION_H_
#define FIDELIO_CORE_DESIGN_VARIANCE_REDUCTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"

namespace fidelio {

// trace(C_cs (C_ss + N)⁻¹ C_sc) for the covariance C (n×n) of all elements c and observations of the elements s with
// independent noise of variances N (k, ≥ 0).
absl::StatusOr<double> TraceReduction(const Matrix& covariance, const std::vector<int>& observed, const Vector& noise);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_VARIANCE_REDUCTION_H_
