#include "core/base/crc32c.h"

#include <string>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(Crc32cTest, EqualsPublishedValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  // RFC 3720, B.4.
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
}

TEST(Crc32cTest, IsTheSameHoweverTheBytesAreCut) {
  std::string bytes;
  for (int i = 0; i < 61; ++i) bytes.push_back(static_cast<char>(i * 37 + 11));
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(ExtendCrc32c(Crc32c(bytes.substr(0, cut)), bytes.substr(cut)), Crc32c(bytes)) << cut;
  }
}

}  // namespace
}  // namespace fidelio
