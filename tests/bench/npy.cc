#include "tests/bench/npy.h"

#include <bit>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace fidelio::bench {

static_assert(std::endian::native == std::endian::little);

std::string ToNpy(const Matrix& matrix) {
  std::string header =
      absl::StrCat("{'descr': '<f8', 'fortran_order': True, 'shape': (", matrix.rows(), ", ", matrix.cols(), "), }");
  // With the ten bytes before it and the newline, the header fills whole blocks of 64 bytes.
  constexpr size_t kBefore = 10, kBlock = 64;
  header.append(kBlock - 1 - (kBefore + header.size()) % kBlock, ' ');
  header.push_back('\n');
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.push_back(static_cast<char>(header.size() % 256));
  bytes.push_back(static_cast<char>(header.size() / 256));
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(matrix.data()), matrix.size() * sizeof(double));
  return bytes;
}

}  // namespace fidelio::bench
