#include "client/cli/text.h"

#include <cstdlib>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio::cli {
namespace {

TEST(TextTest, ExactNumbersAreReadBackAsTheSameBits) {
  for (const double value : {0.1, 1.0 / 3, 1e300, -5e-324, 2.0, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(std::strtod(ExactNumber(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(ExactNumber(0.1), "0.1");
  EXPECT_EQ(ExactNumber(2), "2");
}

TEST(TextTest, DurationsHaveAFittingUnit) {
  EXPECT_EQ(DurationText(absl::Milliseconds(420)), "0.42 s");
  EXPECT_EQ(DurationText(absl::Seconds(12.34)), "12.3 s");
  EXPECT_EQ(DurationText(absl::Seconds(245)), "4:05 min");
  EXPECT_EQ(DurationText(absl::Seconds(59.99)), "1:00 min");
  EXPECT_EQ(DurationText(absl::Seconds(7384)), "2:03:04 h");
}

TEST(TextTest, TimesAreUtcAndMayBeMissing) {
  google::protobuf::Timestamp time;
  EXPECT_EQ(TimeText(time), "–");
  time.set_seconds(1715000000);
  EXPECT_EQ(TimeText(time), "2024-05-06 12:53:20");
}

TEST(TextTest, NamesOfEnumValuesBecomeWords) { EXPECT_EQ(EnumText("MODEL_KIND_MF_DGP", "MODEL_KIND_"), "mf-dgp"); }

TEST(TextTest, ColumnsOfATableLineUp) {
  EXPECT_EQ(TextTable({{"NAME", "N"}, {"a–b", "10"}, {"longer", "1"}}), "NAME    N\na–b     10\nlonger  1\n");
}

TEST(TextTest, ListsAreSeparatedByCommas) {
  EXPECT_EQ(*ParseNames("--fidelities", "low, high"), std::vector<std::string>({"low", "high"}));
  EXPECT_TRUE(ParseNames("--fidelities", "")->empty());
  EXPECT_EQ(*ParseNumbers("--lower", "-5,0.5"), std::vector<double>({-5, 0.5}));
  EXPECT_TRUE(IsError(ParseNumbers("--lower", "1,b").status(), absl::StatusCode::kInvalidArgument,
                      {"--lower: \"b\" is not a finite number"}));
  EXPECT_TRUE(IsError(ParseNames("--fidelities", "low,,high").status(), absl::StatusCode::kInvalidArgument,
                      {"--fidelities: entry 2 of \"low,,high\" is empty"}));
}

}  // namespace
}  // namespace fidelio::cli
