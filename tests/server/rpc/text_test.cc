#include "server/rpc/text.h"

#include <string>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(SafeTextTest, LeavesValidTextAsItIs) {
  for (const std::string& text : {std::string(), std::string("wing: 3 × 2"), std::string("𝛿 日本 ü\n\0x", 17)}) {
    EXPECT_EQ(SafeText(text, 100), text);
  }
}

TEST(SafeTextTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(SafeText("a\xff\xfe"
                     "b",
                     100),
            "a??b");
  EXPECT_EQ(SafeText("\xc3", 100), "?");                 // cut off
  EXPECT_EQ(SafeText("\xc0\xaf", 100), "??");            // overlong
  EXPECT_EQ(SafeText("\xe0\x80\xaf", 100), "???");       // overlong
  EXPECT_EQ(SafeText("\xed\xa0\x80", 100), "???");       // surrogate
  EXPECT_EQ(SafeText("\xf4\x90\x80\x80", 100), "????");  // above U+10FFFF
  EXPECT_EQ(SafeText("\xf0\x9f\x92\xa9", 100), "\xf0\x9f\x92\xa9");
}

TEST(SafeTextTest, CutsBetweenCharactersAndSaysSo) {
  EXPECT_EQ(SafeText("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(SafeText("abcdefghi", 8), "abcde…");
  EXPECT_EQ(SafeText("abcdüüü", 8), "abcd…");  // 4 + 3·2 bytes; "abcdü…" would have 9
  EXPECT_EQ(SafeText(std::string(100, '\xff'), 3), "…");
}

}  // namespace
}  // namespace fidelio
