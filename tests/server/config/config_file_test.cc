#include "server/config/config_file.h"

#include <gtest/gtest.h>

namespace fidelio {
namespace {

TEST(ConfigFileTest, ReadsNamesValuesAndLines) {
  const auto contents =
      ParseConfigFile("# head\n\nfit_workers = 2 # two\n  data_dir=\"/a b/#\\\"c\\\\\"  # quoted\n", "f");
  EXPECT_TRUE(contents.problems.empty()) << contents.problems[0];
  ASSERT_EQ(contents.entries.size(), 2u);
  EXPECT_EQ(contents.entries[0].name, "fit_workers");
  EXPECT_EQ(contents.entries[0].value, "2");
  EXPECT_EQ(contents.entries[0].line, 3);
  EXPECT_EQ(contents.entries[1].value, "/a b/#\"c\\");
  EXPECT_EQ(contents.entries[1].line, 4);
}

TEST(ConfigFileTest, ReportsEveryBadLine) {
  const auto contents =
      ParseConfigFile("[table]\na = \"open\nb = x y\nc\n= 1\nd =\nDash-ed = 1\ne = \"\\n\"\nf = 1\nf = 2", "f");
  EXPECT_EQ(contents.problems.size(), 9u);
  EXPECT_EQ(contents.entries.size(), 1u);
  EXPECT_EQ(contents.problems[0].find("f:1: \"[table]\" must be name = value"), 0u) << contents.problems[0];
  EXPECT_EQ(contents.problems.back(), "f:10: f is set in line 9 already; set it once");
}

TEST(ConfigFileTest, QuotedValuesReadBackAsTheyWere) {
  for (const char* value : {"", "plain", "1.5", "127.0.0.1:1", "[::1]:1", "a b", "#", "\"", "\\", "a\\\"b", "=", "ü"}) {
    const auto contents = ParseConfigFile(std::string("name = ") + QuoteValue(value) + " # comment", "f");
    ASSERT_EQ(contents.entries.size(), 1u) << value;
    EXPECT_EQ(contents.entries[0].value, value);
  }
}

}  // namespace
}  // namespace fidelio
