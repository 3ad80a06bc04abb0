#include "core/dgp/moments/moment_modes.h"

#include <cmath>
#include <limits>
#include <memory>

#include "core/dgp/moments/moment_objective.h"
#include "core/dgp/moments/moment_starts.h"
#include "core/dgp/moments/structures.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

std::vector<std::shared_ptr<const MomentModel>> TwoStructures() {
  std::vector<std::shared_ptr<const MomentModel>> structures;
  const ScaledData data = ScaleData(SmallData({5, 3}, 1));
  for (const bool trend : {false, true}) {
    Recipe recipe = DefaultRecipe(KernelFamily::kRbf);
    recipe.trend = trend;
    structures.push_back(std::make_shared<const MomentModel>(data, recipe));
  }
  return structures;
}

StartState End(const std::vector<std::shared_ptr<const MomentModel>>& structures, int structure, double place,
               double normalised_value) {
  const ParameterLayout& p = structures[structure]->layout.parameters;
  return {.structure = structure,
          .z = Vector::Constant(p.size(), place),
          .value = normalised_value + p.LogNormaliser(),
          .done = true};
}

TEST(DistinctModesTest, SortsMergesAndDropsTheHopeless) {
  const auto s = TwoStructures();
  StartState failed = End(s, 0, 0, 0);
  failed.value = std::numeric_limits<double>::infinity();
  const auto modes = DistinctModes(
      {End(s, 0, 0, 12), End(s, 1, 0, 10), End(s, 0, 0.1, 12.01), End(s, 0, 2, 12.02), End(s, 1, 3, 99), failed}, s);
  ASSERT_EQ(modes.size(), 3u);
  EXPECT_EQ(modes[0].structure, 1);
  EXPECT_NEAR(modes[0].value, 10, 1e-9);
  EXPECT_NEAR(modes[1].value, 12, 1e-9);
  EXPECT_NEAR(modes[2].value, 12.02, 1e-9);  // as good as the one before, but elsewhere
}

ModeState Mode(double value, double curvature) {
  ModeState mode;
  mode.z = Vector::Zero(2);
  mode.value = value;
  mode.hessian = curvature * Matrix::Identity(2, 2);
  return mode;
}

TEST(WeighByEvidenceTest, WeightsAreLaplaceEvidencesTempered) {
  // A Gaussian in two dimensions: evidence exp(−value)·2π/curvature.
  std::vector<ModeState> modes = {Mode(1, 4), Mode(1.5, 2)};
  ASSERT_TRUE(MeasureEvidence(modes).ok());
  WeighByEvidence({.temperature = 2}, modes);
  const double ratio = std::sqrt((std::exp(-1.0) / 4) / (std::exp(-1.5) / 2));
  EXPECT_NEAR(modes[0].weight / modes[1].weight, ratio, 1e-12);
  EXPECT_NEAR(modes[0].weight + modes[1].weight, 1, 1e-12);
  EXPECT_NEAR((modes[0].space.basis * modes[0].space.basis.transpose() - Matrix::Identity(2, 2) / 4).norm(), 0, 1e-12);
}

TEST(WeighByEvidenceTest, KeepsNoMoreModesThanAllowedAndDropsTheLight) {
  std::vector<ModeState> modes = {Mode(1, 1), Mode(2, 1), Mode(3, 1), Mode(40, 1)};
  ASSERT_TRUE(MeasureEvidence(modes).ok());
  WeighByEvidence({.modes = 2, .temperature = 2}, modes);
  EXPECT_GT(modes[1].weight, 0);
  EXPECT_EQ(modes[2].weight, 0);
  WeighByEvidence({.modes = 4, .temperature = 2}, modes);
  EXPECT_GT(modes[2].weight, 0);
  EXPECT_EQ(modes[3].weight, 0);
}

TEST(WeighByEvidenceTest, TheBestModeOfAllLevelsKeepsALittleWhateverItsEvidence) {
  std::vector<ModeState> modes = {Mode(80, 1), Mode(90, 1), Mode(1, 1)};  // the last one is of the highest level alone
  ASSERT_TRUE(MeasureEvidence(modes).ok());
  WeighByEvidence({.modes = 4, .temperature = 2}, modes);
  EXPECT_GT(modes[0].weight, 0);
  EXPECT_LT(modes[0].weight, 1e-5);
  EXPECT_EQ(modes[1].weight, 0);
  EXPECT_NEAR(modes[2].weight, 1, 1e-5);
}

// With ρ = 0 and no link, the levels are independent a priori, and the evidence of level 0 that CompleteEvidence finds is the
// likelihood of level 0 at the mode times what its own parameters make of it.
TEST(CompleteEvidenceTest, MultipliesByTheEvidenceOfTheLevelsLeftOutInTheSameUnits) {
  Dataset data = SmallData({6, 5}, 3);
  Recipe whole = DefaultRecipe(KernelFamily::kRbf), part = whole;
  part.first_level = 1;
  const auto evidence_of_part = [&](const Dataset& from, double* lower) {
    const std::vector<std::shared_ptr<const MomentModel>> structures = {
        std::make_shared<const MomentModel>(ScaleData(from), whole),
        std::make_shared<const MomentModel>(ScaleData(from, 1), part)};
    MomentObjective objective(structures[0]);
    ModeState all = Mode(0, 1), alone = Mode(3, 1);
    all.z = Vector::Zero(objective.size());
    all.hessian = 2 * Matrix::Identity(objective.size(), objective.size());
    EXPECT_TRUE(objective.Evaluate(all.z, &all.value, nullptr));
    all.value -= structures[0]->layout.parameters.LogNormaliser();
    alone.structure = 1;
    std::vector<ModeState> modes = {all, alone};
    EXPECT_TRUE(MeasureEvidence(modes).ok());
    const double before = modes[1].log_evidence;
    EXPECT_TRUE(CompleteEvidence(structures, objective.recursion(), modes).ok());
    // Level 0's own Laplace evidence: its likelihood and prior at the mode, curvature 2 in each of its parameters.
    const MomentLayout& layout = structures[0]->layout;
    const Vector theta = layout.parameters.Centres();
    *lower = objective.recursion().log_likelihood_below(1) + layout.parameters.LogPriorFrom(0, theta) -
             layout.parameters.LogPriorFrom(layout.Begin(1), theta) + 0.5 * layout.Begin(1) * std::log(2 * M_PI / 2);
    return modes[1].log_evidence - before;
  };
  double lower = 0;
  const double first = evidence_of_part(data, &lower);
  const double prior_odds = first - lower;
  // Another unit of the high fidelity changes its density, and nothing else.
  data.levels[1].y *= 1000;
  const double second = evidence_of_part(data, &lower);
  EXPECT_NEAR(second - lower, prior_odds, 1e-6);
}

TEST(DistinctModesTest, ComparesOnlyModesOfTheSameLevels) {
  auto s = TwoStructures();
  Recipe part = DefaultRecipe(KernelFamily::kRbf);
  part.first_level = 1;
  s.push_back(std::make_shared<const MomentModel>(ScaleData(SmallData({5, 3}, 1), 1), part));
  const auto modes = DistinctModes({End(s, 2, 0, -100), End(s, 0, 0, 12), End(s, 2, 1, -10), End(s, 1, 0, 10)}, s);
  ASSERT_EQ(modes.size(), 3u);  // −10 is far below −100, both of level 1 alone
  EXPECT_EQ(modes[0].structure, 1);
  EXPECT_EQ(modes[1].structure, 0);
  EXPECT_EQ(modes[2].structure, 2);
}

TEST(StartChainsTest, EveryWeightedModeHasTwoChainsAndTheHeaviestTheRest) {
  std::vector<ModeState> modes(3);
  modes[0].weight = 0.8;
  modes[1].weight = 0;
  modes[2].weight = 0.2;
  std::vector<int> count(3, 0);
  for (const ChainState& chain : StartChains(5, modes)) ++count[chain.mode];
  EXPECT_EQ(count, (std::vector<int>{3, 0, 2}));
}

TEST(StructuredStartsTest, EveryStartCanBeEvaluated) {
  for (const std::vector<int>& sizes : {std::vector<int>{6}, {6, 4}, {6, 4, 3}}) {
    const auto model =
        std::make_shared<const MomentModel>(ScaleData(SmallData(sizes, 2)), DefaultRecipe(KernelFamily::kRbf));
    const std::vector<Vector> starts = StructuredStarts(*model);
    EXPECT_EQ(starts.size(), sizes.size() == 1 ? 2u : 4u);
    MomentObjective objective(model);
    for (const Vector& z : starts) {
      double value;
      EXPECT_TRUE(objective.Evaluate(z, &value, nullptr));
    }
  }
}

TEST(StructuresTest, LargeDataGetFewerStructures) {
  EXPECT_EQ(DefaultStructures(KernelFamily::kRbf, {100}, 2).size(), 3u);
  EXPECT_EQ(DefaultStructures(KernelFamily::kRbf, {1000}, 2).size(), 1u);
  EXPECT_EQ(DefaultStructures(std::nullopt, {100}, 2).size(), 12u);
}

TEST(StructuresTest, TheHighestLevelStandsAloneOnlyWithPointsEnough) {
  const auto alone = [](const std::vector<int>& counts) {
    int count = 0;
    for (const Recipe& recipe : DefaultStructures(KernelFamily::kRbf, counts, 2)) count += recipe.first_level > 0;
    return count;
  };
  EXPECT_EQ(alone({40, 8}), 0);
  EXPECT_EQ(alone({40, 9}), 3);
  EXPECT_EQ(alone({40}), 0);
}

TEST(StructuresTest, LargeDataGetFewerDraws) {
  int last = std::numeric_limits<int>::max();
  for (const int points : {10, 250, 400, 700, 3000}) {
    const MomentFitSettings s = SettingsFor(points);
    const int draws = s.draws;
    EXPECT_GE(draws, 1);
    EXPECT_LE(draws, last);
    last = draws;
  }
}

}  // namespace
}  // namespace fidelio
