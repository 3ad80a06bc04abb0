#include "server/rpc/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace fidelio {
namespace {

static_assert(std::endian::native == std::endian::little, "f64_le is copied as it is");

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Rows are transposed in blocks of about so many elements, which stay in the first-level cache.
constexpr int64_t kBlockElements = 2048;

absl::Status Invalid(absl::string_view field, absl::string_view rule) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", rule));
}

// OK when as many elements as the header claims are there, and not more than allowed.
absl::Status CheckHeader(const v1::Matrix& wire, absl::string_view field, int64_t max_elements) {
  const uint64_t rows = wire.rows(), cols = wire.cols();
  if (rows == 0 || cols == 0) {
    return Invalid(field, absl::StrCat(rows, " × ", cols, ", but at least 1 row and 1 column are needed"));
  }
  const uint64_t count = rows * cols;  // below 2⁶⁴
  if (max_elements < 0 || count > static_cast<uint64_t>(max_elements)) {
    return Invalid(field, absl::StrCat(rows, " × ", cols, " elements, but at most ", max_elements, " are allowed"));
  }
  switch (wire.data_case()) {
    case v1::Matrix::kF64Le:
      if (wire.f64_le().size() / sizeof(double) != count || wire.f64_le().size() % sizeof(double) != 0) {
        return Invalid(absl::StrCat(field, ".f64_le"), absl::StrCat(wire.f64_le().size(), " bytes, but ", rows, " × ",
                                                                    cols, " doubles take ", count * sizeof(double)));
      }
      return absl::OkStatus();
    case v1::Matrix::kValues:
      if (static_cast<uint64_t>(wire.values().values_size()) != count) {
        return Invalid(absl::StrCat(field, ".values"),
                       absl::StrCat(wire.values().values_size(), " numbers, but ", rows, " × ", cols, " are ", count));
      }
      return absl::OkStatus();
    case v1::Matrix::DATA_NOT_SET:
      break;
  }
  return Invalid(field, absl::StrCat("neither f64_le nor values, but ", rows, " × ", cols, " elements are claimed"));
}

// The elements in row-major order. Not `const double*`: the bytes of a string may lie at any address.
const char* Elements(const v1::Matrix& wire) {
  return wire.data_case() == v1::Matrix::kF64Le ? wire.f64_le().data()
                                                : reinterpret_cast<const char*>(wire.values().values().data());
}

absl::Status CheckFinite(const Matrix& m, absl::string_view field) {
  if (m.allFinite()) return absl::OkStatus();
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    for (Eigen::Index j = 0; j < m.cols(); ++j) {
      if (!std::isfinite(m(i, j))) {
        return Invalid(field, absl::StrCat("element [", i, ", ", j, "] is ", m(i, j), ", but must be finite"));
      }
    }
  }
  return absl::InternalError(absl::StrCat(field, ": not finite, yet every element is"));
}

}  // namespace

absl::StatusOr<Matrix> DecodeMatrix(const v1::Matrix& wire, absl::string_view field, int64_t max_elements) {
  FIDELIO_RETURN_IF_ERROR(CheckHeader(wire, field, max_elements));
  const int64_t rows = wire.rows(), cols = wire.cols();
  const char* source = Elements(wire);
  Matrix m(rows, cols);
  if (rows == 1 || cols == 1) {  // both orders are the same
    std::memcpy(m.data(), source, sizeof(double) * rows * cols);
  } else {
    RowMajor block(std::min(rows, std::max<int64_t>(1, kBlockElements / cols)), cols);
    for (int64_t i = 0; i < rows; i += block.rows()) {
      const int64_t n = std::min(block.rows(), rows - i);
      std::memcpy(block.data(), source + sizeof(double) * i * cols, sizeof(double) * n * cols);
      m.middleRows(i, n) = block.topRows(n);
    }
  }
  FIDELIO_RETURN_IF_ERROR(CheckFinite(m, field));
  return m;
}

absl::StatusOr<Vector> DecodeColumn(const v1::Matrix& wire, absl::string_view field, int64_t max_elements) {
  if (wire.cols() > 1) return Invalid(field, absl::StrCat(wire.cols(), " columns, but 1 is needed"));
  FIDELIO_ASSIGN_OR_RETURN(Matrix m, DecodeMatrix(wire, field, max_elements));
  return Vector(m.col(0));
}

v1::MatrixEncoding EncodingOf(const v1::Matrix& wire) {
  return wire.data_case() == v1::Matrix::kValues ? v1::MATRIX_ENCODING_VALUES : v1::MATRIX_ENCODING_F64_LE;
}

void EncodeMatrix(const ConstMatrixRef& matrix, v1::MatrixEncoding encoding, v1::Matrix* wire) {
  const Eigen::Index rows = matrix.rows(), cols = matrix.cols();
  wire->set_rows(static_cast<uint32_t>(rows));
  wire->set_cols(static_cast<uint32_t>(cols));
  char* target;
  if (encoding == v1::MATRIX_ENCODING_VALUES) {
    auto* values = wire->mutable_values()->mutable_values();
    values->Resize(static_cast<int>(rows * cols), 0);
    target = reinterpret_cast<char*>(values->mutable_data());
  } else {
    std::string* bytes = wire->mutable_f64_le();
    bytes->resize(sizeof(double) * rows * cols);
    target = bytes->data();
  }
  if (matrix.size() == 0) return;
  RowMajor block(std::min(rows, std::max<Eigen::Index>(1, kBlockElements / cols)), cols);
  for (Eigen::Index i = 0; i < rows; i += block.rows()) {
    const Eigen::Index n = std::min(block.rows(), rows - i);
    block.topRows(n) = matrix.middleRows(i, n);
    std::memcpy(target + sizeof(double) * i * cols, block.data(), sizeof(double) * n * cols);
  }
}

}  // namespace fidelio
