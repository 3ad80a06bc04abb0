#include "core/emulator/supported_range.h"

#include <vector>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

Dataset OutputsOf(const std::vector<Vector>& z) {
  Dataset data;
  for (const Vector& y : z) data.levels.push_back({.x = Matrix::Zero(y.size(), 1), .y = y, .noise_variance = {}});
  return data;
}

TEST(SupportedRangeTest, IsThatOfTheLevelAndHalfItsWidthOnEachSide) {
  const auto ranges = SupportedRanges(OutputsOf({Vector{{-9, 9}}, Vector{{2, 6, 3}}}));
  ASSERT_EQ(ranges.size(), 2);
  EXPECT_EQ(ranges[1].Around(4).lower, 0);
  EXPECT_EQ(ranges[1].Around(4).upper, 8);
  EXPECT_EQ(ranges[0].Around(0).upper, 18);
}

TEST(SupportedRangeTest, GoesWithAMedianOutsideTheObservations) {
  const SupportedRange range = SupportedRanges(OutputsOf({Vector{{2, 6}}}))[0];
  EXPECT_EQ(range.Around(10).upper, 12);
  EXPECT_EQ(range.Around(10).lower, 0);
  EXPECT_EQ(range.Around(-5).lower, -7);
}

TEST(SupportedRangeTest, OneObservationOrEqualOnesSupportAFactorOfE) {
  for (const Vector& z : {Vector{{3}}, Vector{{3, 3}}, Vector{{3, 3.1}}}) {
    EXPECT_EQ(SupportedRanges(OutputsOf({z}))[0].Around(3).lower, 2);
  }
}

TEST(SupportedRangeTest, ALevelWithoutObservationsTakesThoseOfTheOneBelow) {
  const auto ranges = SupportedRanges(OutputsOf({Vector{{0, 4}}, Vector(), Vector{{7, 9}}}));
  EXPECT_EQ(ranges[1].most, 4);
  EXPECT_EQ(ranges[2].most, 9);
}

}  // namespace
}  // namespace fidelio
