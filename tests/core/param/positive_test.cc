#include "core/param/positive.h"

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(PositiveTest, TheInverseGivesBackWhatItIsTheInverseOf) {
  for (const double y : {1e-5, 0.01, 0.5, 1.0, 3.0, 40.0, 1e3}) {
    EXPECT_NEAR(PositiveOf(UnboundedOf(y)), y, 1e-12 * y + 1e-17) << y;
  }
  for (const double x : {-30.0, -3.0, 0.0, 2.0, 50.0}) {
    EXPECT_NEAR(UnboundedOf(PositiveOf(x)), x, x < -20 ? 1e-2 : 1e-9) << x;
  }
}

TEST(PositiveTest, TheSlopeIsThatOfDifferences) {
  for (const double x : {-8.0, -1.0, 0.0, 1.5, 30.0}) {
    const double h = 1e-5;
    EXPECT_NEAR((PositiveOf(x + h) - PositiveOf(x - h)) / (2 * h), PositiveSlope(x), 1e-9) << x;
  }
}

TEST(PositiveTest, WhatIsTooSmallIsTheLeast) {
  EXPECT_EQ(UnboundedOf(0), UnboundedOf(kLeastPositive));
  EXPECT_NEAR(PositiveOf(UnboundedOf(0)), kLeastPositive, 1e-15);
  EXPECT_EQ(PositiveOf(-1000), kLeastPositive);
  EXPECT_EQ(PositiveSlope(-1000), 0);
}

}  // namespace
}  // namespace fidelio
