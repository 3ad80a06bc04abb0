#include "client/cli/report/scale.h"

#include <limits>

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

TEST(ScaleTest, TicksAreRoundNumbersWithinTheRange) {
  EXPECT_EQ(Ticks({0, 1}, 5), std::vector<double>({0, 0.2, 2 * 0.2, 3 * 0.2, 4 * 0.2, 1}));
  EXPECT_EQ(Ticks({-3, 12}, 4), std::vector<double>({0, 5, 10}));
  EXPECT_EQ(Ticks({1e-9, 5e-9}, 4).size(), 5u);
  EXPECT_EQ(Ticks({-1e12, 1e12}, 4), std::vector<double>({-1e12, -5e11, 0, 5e11, 1e12}));
}

TEST(ScaleTest, LabelsHaveTheDigitsThatTellTicksApart) {
  EXPECT_EQ(TickLabel(0.25, 0.05), "0.25");
  EXPECT_EQ(TickLabel(0.30000000000000004, 0.1), "0.3");
  EXPECT_EQ(TickLabel(1200, 200), "1200");
  EXPECT_EQ(TickLabel(2.5e6, 5e5), "2.5e+06");
  EXPECT_EQ(TickLabel(3e-7, 1e-7), "3e-07");
  EXPECT_EQ(TickLabel(-1e-18, 0.1), "0");
}

TEST(ScaleTest, RangesCoverWhatTheySawWithAMargin) {
  RangeOf range;
  EXPECT_EQ(range.Padded(0.1).upper, 1);
  range.Add(Eigen::Vector3d(2, 4, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_DOUBLE_EQ(range.Padded(0.1).lower, 1.8);
  EXPECT_DOUBLE_EQ(range.Padded(0.1).upper, 4.2);
}

TEST(ScaleTest, RangesOfOneValueAreNotEmpty) {
  for (const double value : {0.0, 5.0, -1e-300, 1e300, 1e12}) {
    RangeOf range;
    range.Add(value);
    EXPECT_GT(range.Padded(0.1).width(), 0) << value;
    EXPECT_FALSE(Ticks(range.Padded(0.1), 5).empty()) << value;
  }
}

}  // namespace
}  // namespace fidelio::cli
