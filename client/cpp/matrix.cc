#include "client/cpp/matrix.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace fidelio::client {
namespace {

static_assert(std::endian::native == std::endian::little, "f64_le is copied as it is");

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

v1::Matrix ToWire(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  v1::Matrix wire;
  wire.set_rows(static_cast<uint32_t>(matrix.rows()));
  wire.set_cols(static_cast<uint32_t>(matrix.cols()));
  const RowMajor rows = matrix;
  wire.set_f64_le(reinterpret_cast<const char*>(rows.data()), sizeof(double) * static_cast<size_t>(rows.size()));
  return wire;
}

absl::StatusOr<Eigen::MatrixXd> FromWire(const v1::Matrix& wire, absl::string_view field) {
  const uint64_t count = static_cast<uint64_t>(wire.rows()) * wire.cols();
  const bool bytes = wire.data_case() == v1::Matrix::kF64Le;
  const uint64_t present = bytes ? wire.f64_le().size() / sizeof(double) : wire.values().values_size();
  if (present != count || (bytes && wire.f64_le().size() % sizeof(double) != 0)) {
    return absl::InternalError(absl::StrCat("the server returned ", field, " with ", present, " numbers, but ",
                                            wire.rows(), " × ", wire.cols(), " are ", count));
  }
  RowMajor rows(wire.rows(), wire.cols());
  // Copied as bytes: those of a string may lie at any address.
  const void* source = bytes ? static_cast<const void*>(wire.f64_le().data()) : wire.values().values().data();
  if (count > 0) std::memcpy(rows.data(), source, sizeof(double) * count);
  return Eigen::MatrixXd(rows);
}

}  // namespace fidelio::client
