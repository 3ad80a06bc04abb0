#include "server/auth/digest.h"

#include <gtest/gtest.h>

#include <sstream>

namespace fidelio {
namespace {

constexpr char kDigestOfAbc[] = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(DigestTest, IsSha256) { EXPECT_EQ(FormatDigest(DigestOf("abc")), kDigestOfAbc); }

TEST(DigestTest, ParseIsTheInverseOfFormatAndTakesEitherCase) {
  EXPECT_EQ(ParseDigest(kDigestOfAbc), DigestOf("abc"));
  std::string upper = kDigestOfAbc;
  for (size_t i = 7; i < upper.size(); ++i) upper[i] = static_cast<char>(std::toupper(upper[i]));
  EXPECT_EQ(ParseDigest(upper), DigestOf("abc"));
}

TEST(DigestTest, RefusesWhatIsNotADigest) {
  const std::string good = kDigestOfAbc;
  for (const std::string& bad : {std::string(), good.substr(7), good + "0", good.substr(0, 70),
                                 "sha512:" + good.substr(7), "sha256:g" + good.substr(8)}) {
    EXPECT_FALSE(ParseDigest(bad).has_value()) << bad;
  }
}

TEST(DigestTest, ComparisonSeesEveryByte) {
  const Digest digest = DigestOf("abc");
  EXPECT_TRUE(EqualInConstantTime(digest, digest));
  for (size_t i = 0; i < digest.size(); ++i) {
    Digest other = digest;
    other[i] ^= 1;
    EXPECT_FALSE(EqualInConstantTime(digest, other)) << i;
  }
}

TEST(HashTokenTest, PrintsTheDigestOfTheFirstLine) {
  for (const char* input : {"0123456789abcdef0123", "0123456789abcdef0123\n", "0123456789abcdef0123\r\nmore\n"}) {
    std::istringstream in(input);
    std::ostringstream out;
    EXPECT_TRUE(HashToken(in, out).ok());
    EXPECT_EQ(out.str(), FormatDigest(DigestOf("0123456789abcdef0123")) + "\n");
  }
}

TEST(HashTokenTest, RefusesTokensThatAreShortOrNotPrintableAndDoesNotRepeatThem) {
  for (const char* input : {"", "hunter2", "0123456789 0123456789",
                            "0123456789\x01"
                            "0123456789",
                            "0123456789ä0123456789"}) {
    std::istringstream in(input);
    std::ostringstream out;
    const absl::Status status = HashToken(in, out);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << input;
    EXPECT_EQ(status.message().find("hunter2"), std::string::npos);
    EXPECT_EQ(out.str(), "");
  }
}

}  // namespace
}  // namespace fidelio
