#include "core/base/normal.h"

#include <cmath>
#include <numbers>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

struct Pair {
  double x, p;
};

// 20 digits from an arbitrary-precision library.
constexpr Pair kCdfValues[] = {{-37, 5.7255712225245768227e-300},
                               {-10, 7.619853024160526066e-24},
                               {-5, 2.8665157187919391167e-7},
                               {-1, 0.15865525393145705141},
                               {0, 0.5},
                               {0.5, 0.69146246127401310364},
                               {2, 0.9772498680518207928},
                               {8, 0.9999999999999993779}};
constexpr Pair kQuantileValues[] = {{-37.047096299361199237, 1e-300}, {-9.2623400897984075796, 1e-20},
                                    {-4.2648907939228246102, 1e-5},   {-1.9599639845400542118, 0.025},
                                    {-0.6744897501960817432, 0.25},   {0, 0.5},
                                    {1.2815515655446005935, 0.9},     {4.7534243088170877657, 0.999999}};

TEST(NormalCdfTest, GivesKnownValuesUpToTheFarTail) {
  for (const auto& [x, p] : kCdfValues) EXPECT_NEAR(NormalCdf(x) / p, 1, 1e-12) << x;
}

TEST(NormalCdfTest, EndsAtZeroAndOne) {
  EXPECT_EQ(NormalCdf(-HUGE_VAL), 0);
  EXPECT_EQ(NormalCdf(HUGE_VAL), 1);
}

TEST(NormalQuantileTest, GivesKnownValuesUpToTheFarTail) {
  for (const auto& [x, p] : kQuantileValues) EXPECT_NEAR(NormalQuantile(p), x, 1e-14 * (1 + std::abs(x))) << p;
}

TEST(NormalQuantileTest, InvertsTheCdf) {
  // The quantile of a rounded probability is off by up to ε/φ(x), which is what limits the upper tail.
  for (double x = -37; x <= 6; x += 0.0625) {
    const double p = NormalCdf(x), density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    EXPECT_NEAR(NormalQuantile(p), x, 1e-13 * (1 + std::abs(x)) + 2e-16 * p / density) << x;
  }
}

TEST(NormalQuantileTest, IsInvertedByTheCdf) {
  for (double p = 1e-300; p < 0.5; p *= 7) EXPECT_NEAR(NormalCdf(NormalQuantile(p)) / p, 1, 2e-12) << p;
}

TEST(NormalQuantileTest, IsOdd) {
  for (int i = 1; i < 64; ++i) EXPECT_EQ(NormalQuantile(i / 128.0), -NormalQuantile(1 - i / 128.0));
}

TEST(NormalQuantileTest, RisesAcrossTheBordersOfItsApproximations) {
  // The pieces meet at |p − ½| = 0.425 and at −log p = 25.
  for (const double border : {0.075, 0.925, std::exp(-25.0)}) {
    const double below = NormalQuantile(border * (1 - 1e-12)), above = NormalQuantile(border * (1 + 1e-12));
    EXPECT_LT(below, above);
    EXPECT_NEAR(below, above, 1e-10);
  }
}

}  // namespace
}  // namespace fidelio
