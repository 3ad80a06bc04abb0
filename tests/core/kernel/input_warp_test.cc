#include "core/kernel/input_warp.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

constexpr double kBorder = 0.01;  // |c| below which the series replaces the quotient
constexpr double kInputs[] = {-0.3, 0.0, 0.1, 0.35, 0.5, 0.8, 1.0, 1.4};

class InputWarpTest : public testing::TestWithParam<double> {
 protected:
  const double c_ = GetParam();
};

TEST_P(InputWarpTest, KeepsTheEndpoints) {
  EXPECT_EQ(WarpInput(0, c_).value, 0);
  EXPECT_NEAR(WarpInput(1, c_).value, 1, 1e-15);
}

TEST_P(InputWarpTest, EqualsItsFormula) {
  for (const double x : kInputs) {
    const long double c = c_;
    const double expected =
        c_ == 0 ? x : static_cast<double>(std::expm1(c * static_cast<long double>(x)) / std::expm1(c));
    EXPECT_NEAR(WarpInput(x, c_).value, expected, 1e-8 * std::max(1.0, std::abs(expected))) << x;
  }
}

TEST_P(InputWarpTest, Rises) {
  for (double x = -0.5; x < 1.5; x += 0.05) {
    EXPECT_GT(WarpInput(x, c_).slope, 0) << x;
    EXPECT_LT(WarpInput(x, c_).value, WarpInput(x + 0.05, c_).value) << x;
  }
}

TEST_P(InputWarpTest, SlopeEqualsCentralDifferences) {
  const double h = 1e-5;
  for (const double x : kInputs) {
    const double difference = (WarpInput(x + h, c_).value - WarpInput(x - h, c_).value) / (2 * h);
    EXPECT_NEAR(WarpInput(x, c_).slope, difference, 1e-6 * std::max(1e-3, std::abs(difference))) << x;
  }
}

TEST_P(InputWarpTest, SensitivityEqualsCentralDifferences) {
  const double h = 1e-4;
  for (const double x : kInputs) {
    const double difference = (WarpInput(x, c_ + h).value - WarpInput(x, c_ - h).value) / (2 * h);
    EXPECT_NEAR(WarpInput(x, c_).sensitivity, difference, 1e-6 * std::max(1e-1, std::abs(difference))) << x;
  }
}

TEST_P(InputWarpTest, TheOppositeSignMirrorsTheBox) {
  for (const double x : kInputs) {
    const double expected = 1 - WarpInput(1 - x, c_).value;
    EXPECT_NEAR(WarpInput(x, -c_).value, expected, 1e-12 * std::max(1.0, std::abs(expected))) << x;
  }
}

TEST_P(InputWarpTest, ManyInputsAreWarpedLikeEachAlone) {
  Vector x = Eigen::Map<const Vector>(kInputs, std::size(kInputs));
  WarpInputs(c_, x);
  for (size_t i = 0; i < std::size(kInputs); ++i) EXPECT_EQ(x[i], WarpInput(kInputs[i], c_).value) << kInputs[i];
}

INSTANTIATE_TEST_SUITE_P(Strengths, InputWarpTest,
                         testing::Values(-8, -1, -0.2, -0.005, 0, 1e-8, 0.005, 0.02, 0.3, 1, 3, 10));

TEST(InputWarpLimitTest, ZeroIsTheIdentity) {
  for (const double x : kInputs) {
    EXPECT_EQ(WarpInput(x, 0).value, x);
    EXPECT_EQ(WarpInput(x, 0).slope, 1);
  }
}

TEST(InputWarpLimitTest, TendsToTheIdentity) {
  for (const double c : {1e-3, 1e-6, -1e-6, 1e-12}) {
    for (const double x : kInputs) EXPECT_NEAR(WarpInput(x, c).value, x, std::abs(c)) << x << " " << c;
  }
}

TEST(InputWarpLimitTest, SeriesAndQuotientAgreeAtTheirBorder) {
  for (const double sign : {-1.0, 1.0}) {
    for (const double x : kInputs) {
      const Warped series = WarpInput(x, sign * kBorder * (1 - 1e-10)), quotient = WarpInput(x, sign * kBorder);
      EXPECT_NEAR(series.value, quotient.value, 2e-8) << x;
      EXPECT_NEAR(series.slope, quotient.slope, 2e-7) << x;
      EXPECT_NEAR(series.sensitivity, quotient.sensitivity, 5e-6) << x;
    }
  }
}

TEST(InputWarpLimitTest, StrongWarpsStretchOneEnd) {
  EXPECT_NEAR(WarpInput(0.5, 40).value, std::exp(-20), 1e-10);
  EXPECT_NEAR(WarpInput(0.5, -40).value, 1, 1e-8);
  EXPECT_LT(WarpInput(0.5, 1).value, 0.5);
  EXPECT_GT(WarpInput(0.5, -1).value, 0.5);
}

}  // namespace
}  // namespace fidelio
