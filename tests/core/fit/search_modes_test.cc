#include "core/fit/search_modes.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/core/fit/quadratic_target.h"

namespace fidelio {
namespace {

SearchStart End(const Target& target, int structure, double place, double normalised_value) {
  const ParameterLayout& p = target.parameters(structure);
  return {.structure = structure,
          .z = Vector::Constant(p.size(), place),
          .value = normalised_value + p.LogNormaliser(),
          .done = true};
}

TEST(DistinctModesTest, SortsMergesAndDropsTheHopeless) {
  const QuadraticTarget t({{}, {}});
  SearchStart failed = End(t, 0, 0, 0);
  failed.value = std::numeric_limits<double>::infinity();
  const auto modes = DistinctModes(
      {End(t, 0, 0, 12), End(t, 1, 0, 10), End(t, 0, 0.1, 12.01), End(t, 0, 2, 12.02), End(t, 1, 3, 99), failed}, t);
  ASSERT_EQ(modes.size(), 3u);
  EXPECT_EQ(modes[0].structure, 1);
  EXPECT_NEAR(modes[0].value, 10, 1e-9);
  EXPECT_NEAR(modes[1].value, 12, 1e-9);
  EXPECT_NEAR(modes[2].value, 12.02, 1e-9);  // as good as the one before, but elsewhere
}

TEST(DistinctModesTest, ComparesOnlyModesOfTheSameLevels) {
  const QuadraticTarget t({{}, {}, {.first_level = 1}});
  const auto modes = DistinctModes({End(t, 2, 0, -100), End(t, 0, 0, 12), End(t, 2, 1, -10), End(t, 1, 0, 10)}, t);
  ASSERT_EQ(modes.size(), 3u);  // −10 is far below −100, both of level 1 alone
  EXPECT_EQ(modes[0].structure, 1);
  EXPECT_EQ(modes[1].structure, 0);
  EXPECT_EQ(modes[2].structure, 2);
}

SearchMode Mode(double value, double curvature) {
  return {.z = Vector::Zero(2), .value = value, .hessian = curvature * Matrix::Identity(2, 2)};
}

std::vector<SearchMode> Weighed(const SearchSettings& settings, std::vector<SearchMode> modes) {
  EXPECT_TRUE(MeasureEvidence(QuadraticTarget({QuadraticStructure()}), modes).ok());
  WeighByEvidence(settings, modes);
  return modes;
}

TEST(WeighByEvidenceTest, WeightsAreLaplaceEvidencesTempered) {
  // A Gaussian in two dimensions: evidence exp(−value)·2π/curvature.
  const auto modes = Weighed({.temperature = 2}, {Mode(1, 4), Mode(1.5, 2)});
  const double ratio = std::sqrt((std::exp(-1.0) / 4) / (std::exp(-1.5) / 2));
  EXPECT_NEAR(modes[0].weight / modes[1].weight, ratio, 1e-12);
  EXPECT_NEAR(modes[0].weight + modes[1].weight, 1, 1e-12);
}

TEST(WeighByEvidenceTest, KeepsNoMoreModesThanAllowedAndDropsTheLight) {
  const std::vector<SearchMode> four = {Mode(1, 1), Mode(2, 1), Mode(3, 1), Mode(40, 1)};
  auto modes = Weighed({.modes = 2}, four);
  EXPECT_GT(modes[1].weight, 0);
  EXPECT_EQ(modes[2].weight, 0);
  modes = Weighed({.modes = 4}, four);
  EXPECT_GT(modes[2].weight, 0);
  EXPECT_EQ(modes[3].weight, 0);
}

TEST(WeighByEvidenceTest, TheFirstModeKeepsItsLeastWeightWhateverItsEvidence) {
  const std::vector<SearchMode> three = {Mode(80, 1), Mode(90, 1), Mode(1, 1)};
  const auto modes = Weighed({.first_weight = 1e-6}, three);
  EXPECT_GT(modes[0].weight, 0);
  EXPECT_LT(modes[0].weight, 1e-5);
  EXPECT_EQ(modes[1].weight, 0);
  EXPECT_NEAR(modes[2].weight, 1, 1e-5);
  EXPECT_EQ(Weighed({}, three)[0].weight, 0);
}

TEST(SearchSettingsTest, LargeDataGetFewerDraws) {
  int last = std::numeric_limits<int>::max();
  for (const int observations : {10, 250, 400, 700, 3000}) {
    const int draws = SearchSettings().For(observations).draws;
    EXPECT_GE(draws, 1);
    EXPECT_LE(draws, last);
    last = draws;
  }
}

}  // namespace
}  // namespace fidelio
