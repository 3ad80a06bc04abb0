// Cholesky factorisation with the inverse of its factor, for matrices of a few to a few thousand rows.
//
//   a + jitter·(mean diagonal)·I = L Lᵀ,     L⁻¹,     a⁻¹ = L⁻ᵀ L⁻¹
//
// In panels, so that nearly all the work is matrix products. Jitter is reported, never hidden: the first try is
// made with the matrix as it is, then with 1e-14, 1e-13, …, 1e-6; past that the matrix is refused by name.
#ifndef FIDELIO_CORE_LINALG_CHOLESKY_H_
#define FIDELIO_CORE_LINALG_CHOLESKY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"

namespace fidelio {

inline constexpr double kFirstJitter = 1e-14;
inline constexpr double kLastJitter = 1e-6;

// Factorises `a` (n×n; only its lower triangle is read and written) in place to L, and writes L⁻¹ to `inverse` (n×n,
// strict upper triangle zero). Returns the relative jitter. `name` is for the message only. `scratch` saves an
// allocation where calls repeat.
absl::StatusOr<double> CholeskyWithInverse(MatrixRef a, MatrixRef inverse, absl::string_view name,
                                           Matrix* scratch = nullptr);

// The lower triangle of result = scale·lᵀ l for a lower triangular l with a zero strict upper triangle (that of result
// becomes scratch).
void LowerTransposeTimesLower(const ConstMatrixRef& l, MatrixRef result, double scale = 1);

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_CHOLESKY_H_
