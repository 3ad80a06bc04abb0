#include "client/cli/help_formatter.h"

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

TEST(HelpFormatterTest, LinesAreBrokenBetweenWords) {
  EXPECT_EQ(Wrap("one two three", 7), "one two\nthree");
  EXPECT_EQ(Wrap("one two three", 100), "one two three");
  EXPECT_EQ(Wrap("extraordinary a b", 5), "extraordinary\na b");
  EXPECT_EQ(Wrap("", 5), "");
  EXPECT_EQ(Wrap("ähm öhm", 7), "ähm öhm");  // characters, not bytes
}

}  // namespace
}  // namespace fidelio::cli
