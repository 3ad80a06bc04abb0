// How far observations lower the variance of a Gaussian vector.
#ifndef FIDELIO_CORE_DESIGN_VARIANCE_REDUCTION_H_
#define FIDELIO_CORE_DESIGN_VARIANCE_REDUCTION_H_

#include "absl/status/statusor.h"
#include "core/base/types.h"

namespace fidelio {

// trace(C_cs (C_ss + N)⁻¹ C_sc): by how much the variances of the elements c fall in sum when the elements s are
// observed with independent noise. `observed`: C_ss (k×k), `cross`: C_sc (k×n), `noise`: the variances N (k, ≥ 0).
absl::StatusOr<double> TraceReduction(Matrix observed, const Matrix& cross, const Vector& noise);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_VARIANCE_REDUCTION_H_
