#include "core/optim/mode_chains.h"

#include <cmath>

#include "core/base/random.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

ModeRegion Region(double at, double weight, int space = 0) {
  return {.space = space,
          .log_evidence = std::log(std::max(weight, 1e-9)),
          .weight = weight,
          .whitened = {.origin = Vector::Constant(2, at), .basis = Matrix::Identity(2, 2)}};
}

ModeChain Around(int mode, double at, int n, uint32_t stream) {
  Random random(5, stream);
  ModeChain chain{.mode = mode, .trace = {}};
  for (int i = 0; i < n; ++i) chain.trace.push_back(random.NormalVector(2).array() + at);
  return chain;
}

TEST(AllotChainsTest, EveryModeWithAWeightHasTwoAndTheOthersGoWhereMostWeightIs) {
  EXPECT_EQ(AllotChains(6, Vector{{0.7, 0, 0.3}}), (std::vector<int>{0, 2, 0, 2, 0, 0}));
  EXPECT_EQ(AllotChains(1, Vector{{0.5, 0.5}}), (std::vector<int>{0, 1, 0, 1}));
}

TEST(ModeChainsTest, AChainThatStaysCountsForItsMode) {
  const std::vector<ModeRegion> modes = {Region(0, 0.6), Region(10, 0.4)};
  const ChainsReport report = ReportChains({Around(0, 0, 400, 0), Around(1, 10, 400, 1)}, modes);
  EXPECT_EQ(report.region, (std::vector<int>{0, 1}));
  EXPECT_EQ(report.moved, 0);
  EXPECT_TRUE(Near(report.weight, Vector{{0.6, 0.4}}, 1e-12));
  EXPECT_NEAR(report.r_hat, 1, 0.05);
  EXPECT_GT(report.effective_size, 400);
}

TEST(ModeChainsTest, OtherStructuresGainNothingFromAModeThatIsLeft) {
  const std::vector<ModeRegion> modes = {Region(0, 0.6), Region(10, 0.1), Region(0, 0.3, 1)};
  const ChainsReport report = ReportChains(
      {Around(0, 10, 40, 0), Around(0, 10, 40, 1), Around(1, 10, 40, 2), Around(1, 10, 40, 3), Around(2, 0, 40, 4)},
      modes);
  EXPECT_TRUE(Near(report.weight, Vector{{0, 0.6 / 0.9, 0.3 / 0.9}}, 1e-12));
  EXPECT_EQ(report.moved, 2);
}

TEST(ModeChainsTest, NothingIsKnownWhereAModeHasNoTransitions) {
  const std::vector<ModeRegion> modes = {Region(0, 0.9), Region(10, 0.1)};
  const ChainsReport report = ReportChains({Around(0, 0, 0, 0), Around(1, 10, 64, 1)}, modes);
  EXPECT_EQ(report.effective_size, 0);
  EXPECT_EQ(report.r_hat, 0);
}

TEST(ModeChainsTest, AModeThatAllItsChainsHaveLeftIsNotCountedTwice) {
  const std::vector<ModeRegion> modes = {Region(0, 0.6), Region(10, 0.4)};
  const std::vector<ModeChain> chains = {Around(0, 0, 40, 0), Around(0, 0, 40, 1), Around(1, 0, 40, 2),
                                         Around(1, 0, 40, 3)};
  const ChainsReport report = ReportChains(chains, modes);
  EXPECT_EQ(report.moved, 2);
  EXPECT_TRUE(Near(report.weight, Vector{{1, 0}}, 1e-12));
  for (const WeightedPoint& point : PointsOfModes(chains, modes, report, 8)) EXPECT_EQ(point.mode, 0);
}

TEST(ModeChainsTest, ModesOfOtherSpacesAreNoRivals) {
  const std::vector<ModeRegion> modes = {Region(0, 0.6, 0), Region(10, 0.4, 1)};
  EXPECT_EQ(RegionOf(Around(0, 10, 40, 0), modes), 0);
}

TEST(ModeChainsTest, ModesWithoutAWeightAreNoRivals) {
  const std::vector<ModeRegion> modes = {Region(0, 1), Region(10, 0)};
  EXPECT_EQ(RegionOf(Around(0, 10, 40, 0), modes), 0);
}

TEST(ModeChainsTest, AModeWithoutTransitionsStandsInForItsDraws) {
  const std::vector<ModeRegion> modes = {Region(0, 0.25), Region(10, 0.75)};
  const std::vector<ModeChain> chains = {Around(0, 0, 0, 0), Around(1, 10, 40, 1)};
  const auto points = PointsOfModes(chains, modes, ReportChains(chains, modes), 6);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0].mode, 0);
  EXPECT_EQ(points[0].z, modes[0].whitened.origin);
  EXPECT_NEAR(points[0].weight, 0.25, 1e-12);
  EXPECT_NEAR(points[1].weight, 0.25, 1e-12);
  EXPECT_EQ(points[3].z, chains[1].trace.back());
}

TEST(ModeChainsTest, ChainsThatDisagreeRaiseRHat) {
  const std::vector<ModeRegion> modes = {Region(0, 1)};
  EXPECT_GT(ReportChains({Around(0, -1, 40, 0), Around(0, 1, 40, 1)}, modes).r_hat, 1.1);
}

}  // namespace
}  // namespace fidelio
