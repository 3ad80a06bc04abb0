#include "core/optim/chain_statistics.h"

#include <cmath>

#include "core/base/random.h"
#include "gtest/gtest.h"

namespace fidelio {
namespace {

// An autoregressive chain with unit variance about `mean`.
ChainTrace Autoregressive(int n, double correlation, double mean, uint32_t stream) {
  Random random(3, stream);
  ChainTrace trace(1, n);
  double x = random.Normal();
  for (int i = 0; i < n; ++i) {
    x = correlation * x + std::sqrt(1 - correlation * correlation) * random.Normal();
    trace(0, i) = mean + x;
  }
  return trace;
}

TEST(ChainStatisticsTest, IndependentDrawsHaveRHatOneAndCountInFull) {
  const std::vector<ChainTrace> chains = {Autoregressive(2000, 0, 0, 0), Autoregressive(2000, 0, 0, 1)};
  EXPECT_NEAR(SplitRHat(chains), 1, 0.01);
  EXPECT_NEAR(EffectiveSize(chains), 4000, 400);
}

// n (1−ρ)/(1+ρ) for an autoregressive chain.
TEST(ChainStatisticsTest, CorrelatedDrawsCountLess) {
  const std::vector<ChainTrace> chains = {Autoregressive(20000, 0.8, 0, 0), Autoregressive(20000, 0.8, 0, 1)};
  EXPECT_NEAR(EffectiveSize(chains), 40000.0 / 9, 600);
}

// Between means ±1 and unit variance within: √(1 + B/W) with B = 4/3 over four halves.
TEST(ChainStatisticsTest, ChainsThatDisagreeHaveALargeRHatAndAlmostNoSize) {
  const std::vector<ChainTrace> chains = {Autoregressive(4000, 0, -1, 0), Autoregressive(4000, 0, 1, 1)};
  EXPECT_NEAR(SplitRHat(chains), std::sqrt(1 + 4.0 / 3), 0.03);
  EXPECT_LT(EffectiveSize(chains), 10);
}

TEST(ChainStatisticsTest, ADriftWithinOneChainIsSeen) {
  ChainTrace trace = Autoregressive(400, 0, 0, 0);
  for (int i = 0; i < trace.cols(); ++i) trace(0, i) += i / 100.0;
  EXPECT_GT(SplitRHat({trace}), 1.3);
}

TEST(ChainStatisticsTest, TheWorstQuantityCounts) {
  ChainTrace a(2, 200), b(2, 200);
  a << Autoregressive(200, 0, 0, 0), Autoregressive(200, 0, -2, 1);
  b << Autoregressive(200, 0, 0, 2), Autoregressive(200, 0, 2, 3);
  EXPECT_GT(SplitRHat({a, b}), 2);
}

TEST(ChainStatisticsTest, AChainThatNeverMovesIsOneDraw) {
  const ChainTrace stuck = ChainTrace::Constant(1, 50, 0.3);
  EXPECT_EQ(SplitRHat({stuck, stuck}), kLargestRHat);
  EXPECT_EQ(EffectiveSize({stuck, stuck}), 1);
}

TEST(ChainStatisticsTest, TooShortChainsSayNothing) {
  const ChainTrace brief = Autoregressive(kLeastTransitions - 1, 0, 0, 0);
  EXPECT_EQ(SplitRHat({brief, brief}), 0);
  EXPECT_EQ(EffectiveSize({brief}), 0);
  EXPECT_EQ(SplitRHat({}), 0);
}

}  // namespace
}  // namespace fidelio
