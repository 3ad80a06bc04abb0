#include "tests/bench/rank_histogram.h"

#include <cmath>

#include "core/base/random.h"
#include "gtest/gtest.h"

namespace fidelio::bench {
namespace {

TEST(ChiSquareTailTest, EqualsTabulatedQuantiles) {
  // Abramowitz and Stegun, table 26.8.
  EXPECT_NEAR(ChiSquareTail(3.84146, 1), 0.05, 1e-6);
  EXPECT_NEAR(ChiSquareTail(21.6660, 9), 0.01, 1e-6);
  EXPECT_NEAR(ChiSquareTail(2.08790, 9), 0.99, 1e-6);
  EXPECT_NEAR(ChiSquareTail(36.1909, 19), 0.01, 1e-6);
}

TEST(ChiSquareTailTest, IsExponentialWithTwoDegrees) {
  for (const double x : {1e-3, 0.5, 2.0, 10.0, 100.0}) EXPECT_NEAR(ChiSquareTail(x, 2) / std::exp(-x / 2), 1, 1e-12);
}

TEST(ChiSquareTailTest, IsOneAtZeroAndZeroFarAway) {
  EXPECT_EQ(ChiSquareTail(0, 9), 1);
  EXPECT_EQ(ChiSquareTail(1e5, 9), 0);
}

TEST(RankHistogramTest, PutsEqualNumbersOfRanksIntoEveryBin) {
  RankHistogram histogram(99, 10);
  for (int rank = 0; rank <= 99; ++rank) histogram.Add(rank);
  EXPECT_EQ(histogram.counts(), std::vector<int>(10, 10));
  EXPECT_EQ(histogram.total(), 100);
  EXPECT_EQ(histogram.PValue(), 1);
  EXPECT_EQ(histogram.Bars(), "▄▄▄▄▄▄▄▄▄▄");
}

TEST(RankHistogramTest, GivesTheChiSquareOfItsCounts) {
  RankHistogram histogram(1, 2);
  for (int i = 0; i < 30; ++i) histogram.Add(0);
  for (int i = 0; i < 10; ++i) histogram.Add(1);
  EXPECT_NEAR(histogram.PValue(), ChiSquareTail(10, 1), 1e-15);
}

TEST(RankHistogramTest, HasUniformPValuesForUniformRanks) {
  Random random(1, 0);
  int below_half = 0;
  for (int k = 0; k < 400; ++k) {
    RankHistogram histogram(99, 10);
    for (int i = 0; i < 200; ++i) histogram.Add(static_cast<int>(100 * random.Uniform()));
    if (histogram.PValue() < 0.5) ++below_half;
  }
  EXPECT_NEAR(below_half, 200, 30);  // three standard deviations
}

TEST(RankHistogramTest, RejectsDrawsThatAreTooNarrow) {
  Random random(2, 0);
  RankHistogram histogram(99, 10);
  for (int i = 0; i < 200; ++i) {
    const double truth = random.Normal();
    int rank = 0;
    for (int k = 0; k < 99; ++k) rank += 0.7 * random.Normal() < truth;
    histogram.Add(rank);
  }
  EXPECT_LT(histogram.PValue(), 0.01);
}

}  // namespace
}  // namespace fidelio::bench
