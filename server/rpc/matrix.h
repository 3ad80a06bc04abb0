// Matrices of the wire (row-major, fidelio.v1.Matrix) to and from those of core (column-major Eigen).
//
// What arrives is not trusted: shape and length are checked, without overflow, before anything is allocated, and NaN
// and infinities are refused. Errors are INVALID_ARGUMENT and begin with `field`, the path of the matrix in its
// request: `observations[1].inputs.f64_le: 16 bytes, but 3 × 2 doubles take 48`.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_RPC_MATRIX_H_
#define FIDELIO_SERVER_RPC_MATRIX_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"
#include "fidelio/v1/matrix.pb.h"

namespace fidelio {

// A matrix with at least one row and one column, of at most `max_elements`, all finite.
absl::StatusOr<Matrix> DecodeMatrix(const v1::Matrix& wire, absl::string_view field, int64_t max_elements);

// The same for a matrix of one column.
absl::StatusOr<Vector> DecodeColumn(const v1::Matrix& wire, absl::string_view field, int64_t max_elements);

// The encoding of a matrix, which answers to it follow.
v1::MatrixEncoding EncodingOf(const v1::Matrix& wire);

// Overwrites `wire`. UNSPECIFIED is F64_LE. Vectors become one column.
void EncodeMatrix(const ConstMatrixRef& matrix, v1::MatrixEncoding encoding, v1::Matrix* wire);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_MATRIX_H_
