#include "tests/bench/npy.h"

#include <cstring>

#include "gtest/gtest.h"

namespace fidelio::bench {
namespace {

TEST(ToNpyTest, HeaderAndNumbersAreThoseOfTheFormat) {
  const Matrix matrix = (Matrix(2, 3) << 1, 2, 3, 4, 5, 6).finished();
  const std::string bytes = ToNpy(matrix);
  const size_t header = static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ((10 + header) % 64, 0u);
  EXPECT_EQ(bytes[10 + header - 1], '\n');
  EXPECT_NE(bytes.find("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }"), std::string::npos);
  ASSERT_EQ(bytes.size(), 10 + header + 6 * sizeof(double));
  double second;  // of the first column
  std::memcpy(&second, bytes.data() + 10 + header + sizeof(double), sizeof second);
  EXPECT_EQ(second, 4);
}

}  // namespace
}  // namespace fidelio::bench
