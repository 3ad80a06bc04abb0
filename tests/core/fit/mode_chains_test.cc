#include "core/fit/mode_chains.h"

#include <cmath>

#include "core/base/random.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

SearchMode Region(double at, double weight, int structure = 0) {
  return {.structure = structure,
          .z = Vector::Constant(2, at),
          .hessian = Matrix::Identity(2, 2),
          .log_evidence = std::log(std::max(weight, 1e-9)),
          .weight = weight};
}

ChainsReport Report(const std::vector<SearchChain>& chains, const std::vector<SearchMode>& modes) {
  const auto report = ReportChains(chains, modes);
  EXPECT_TRUE(report.ok()) << report.status();
  return *report;
}

std::vector<int> Allotted(int chains, const std::vector<SearchMode>& modes) {
  std::vector<int> result;
  for (const SearchChain& chain : AllotChains(chains, modes)) result.push_back(chain.mode);
  return result;
}

SearchChain Around(int mode, double at, int n, uint32_t stream) {
  Random random(5, stream);
  SearchChain chain{.mode = mode};
  for (int i = 0; i < n; ++i) chain.trace.push_back(random.NormalVector(2).array() + at);
  return chain;
}

TEST(AllotChainsTest, EveryModeWithAWeightHasTwoAndTheOthersGoWhereMostWeightIs) {
  EXPECT_EQ(Allotted(6, {Region(0, 0.7), Region(1, 0), Region(2, 0.3)}), (std::vector<int>{0, 2, 0, 2, 0, 0}));
  EXPECT_EQ(Allotted(1, {Region(0, 0.5), Region(1, 0.5)}), (std::vector<int>{0, 1, 0, 1}));
}

TEST(ModeChainsTest, AChainThatStaysCountsForItsMode) {
  const std::vector<SearchMode> modes = {Region(0, 0.6), Region(10, 0.4)};
  const ChainsReport report = Report({Around(0, 0, 400, 0), Around(1, 10, 400, 1)}, modes);
  EXPECT_EQ(report.region, (std::vector<int>{0, 1}));
  EXPECT_EQ(report.moved, 0);
  EXPECT_TRUE(Near(report.weight, Vector{{0.6, 0.4}}, 1e-12));
  EXPECT_NEAR(report.r_hat, 1, 0.05);
  EXPECT_GT(report.effective_size, 400);
}

TEST(ModeChainsTest, OtherStructuresGainNothingFromAModeThatIsLeft) {
  const std::vector<SearchMode> modes = {Region(0, 0.6), Region(10, 0.1), Region(0, 0.3, 1)};
  const ChainsReport report = Report(
      {Around(0, 10, 40, 0), Around(0, 10, 40, 1), Around(1, 10, 40, 2), Around(1, 10, 40, 3), Around(2, 0, 40, 4)},
      modes);
  EXPECT_TRUE(Near(report.weight, Vector{{0, 0.6 / 0.9, 0.3 / 0.9}}, 1e-12));
  EXPECT_EQ(report.moved, 2);
}

TEST(ModeChainsTest, NothingIsKnownWhereAModeHasNoTransitions) {
  const std::vector<SearchMode> modes = {Region(0, 0.9), Region(10, 0.1)};
  const ChainsReport report = Report({Around(0, 0, 0, 0), Around(1, 10, 64, 1)}, modes);
  EXPECT_EQ(report.effective_size, 0);
  EXPECT_EQ(report.r_hat, 0);
}

TEST(ModeChainsTest, AModeThatAllItsChainsHaveLeftIsNotCountedTwice) {
  const std::vector<SearchMode> modes = {Region(0, 0.6), Region(10, 0.4)};
  const std::vector<SearchChain> chains = {Around(0, 0, 40, 0), Around(0, 0, 40, 1), Around(1, 0, 40, 2),
                                           Around(1, 0, 40, 3)};
  const ChainsReport report = Report(chains, modes);
  EXPECT_EQ(report.moved, 2);
  EXPECT_TRUE(Near(report.weight, Vector{{1, 0}}, 1e-12));
  for (const WeightedPoint& point : PointsOfModes(chains, modes, report, 8)) EXPECT_EQ(point.mode, 0);
}

TEST(ModeChainsTest, ModesOfOtherStructuresAreNoRivals) {
  const std::vector<SearchMode> modes = {Region(0, 0.6, 0), Region(10, 0.4, 1)};
  EXPECT_EQ(Report({Around(0, 10, 40, 0)}, modes).region, (std::vector<int>{0}));
}

TEST(ModeChainsTest, ModesWithoutAWeightAreNoRivals) {
  const std::vector<SearchMode> modes = {Region(0, 1), Region(10, 0)};
  EXPECT_EQ(Report({Around(0, 10, 40, 0)}, modes).region, (std::vector<int>{0}));
}

TEST(ModeChainsTest, AModeWithoutTransitionsStandsInForItsDraws) {
  const std::vector<SearchMode> modes = {Region(0, 0.25), Region(10, 0.75)};
  const std::vector<SearchChain> chains = {Around(0, 0, 0, 0), Around(1, 10, 40, 1)};
  const auto points = PointsOfModes(chains, modes, Report(chains, modes), 6);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0].mode, 0);
  EXPECT_EQ(points[0].z, modes[0].z);
  EXPECT_NEAR(points[0].weight, 0.25, 1e-12);
  EXPECT_NEAR(points[1].weight, 0.25, 1e-12);
  EXPECT_EQ(points[3].z, chains[1].trace.back());
}

TEST(ModeChainsTest, ChainsThatDisagreeRaiseRHat) {
  const std::vector<SearchMode> modes = {Region(0, 1)};
  EXPECT_GT(Report({Around(0, -1, 40, 0), Around(0, 1, 40, 1)}, modes).r_hat, 1.1);
}

}  // namespace
}  // namespace fidelio
