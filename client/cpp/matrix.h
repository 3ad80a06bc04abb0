// Matrices of the wire (row-major, fidelio.v1.Matrix) to and from Eigen's (column-major).
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CPP_MATRIX_H_
#define FIDELIO_CLIENT_CPP_MATRIX_H_

#include <Eigen/Core>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "fidelio/v1/matrix.pb.h"

namespace fidelio::client {

// In the encoding f64_le. A vector becomes one column. Rows and columns are below 2³².
v1::Matrix ToWire(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

// INTERNAL, naming `field`, when a server returns fewer or more numbers than the shape says.
absl::StatusOr<Eigen::MatrixXd> FromWire(const v1::Matrix& wire, absl::string_view field);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_MATRIX_H_
