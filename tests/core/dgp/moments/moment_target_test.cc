#include "core/dgp/moments/moment_target.h"

#include <cmath>
#include <memory>
#include <vector>

#include "core/dgp/moments/moment_objective.h"
#include "core/optim/laplace.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

// With ρ = 0 and no link, the levels are independent a priori, and the evidence of level 0 that CompleteEvidence finds is the
// likelihood of level 0 at the mode times what its own parameters make of it.
TEST(MomentTargetTest, CompleteEvidenceMultipliesByTheEvidenceOfTheLevelsLeftOutInTheSameUnits) {
  Dataset data = SmallData({6, 5}, 3);
  Recipe whole = DefaultRecipe(KernelFamily::kRbf), part = whole;
  part.first_level = 1;
  const auto evidence_of_part = [&](const Dataset& from, double* lower) {
    const std::vector<std::shared_ptr<const MomentModel>> structures = {
        std::make_shared<const MomentModel>(ScaleData(from), whole),
        std::make_shared<const MomentModel>(ScaleData(from, 1), part)};
    const MomentTarget target(structures);
    MomentObjective objective(structures[0]);
    SearchMode all, alone{.structure = 1, .log_evidence = -3};
    all.z = Vector::Zero(objective.size());
    all.hessian = 2 * Matrix::Identity(objective.size(), objective.size());
    EXPECT_TRUE(objective.Evaluate(all.z, &all.value, nullptr));
    all.value -= structures[0]->layout.parameters.LogNormaliser();
    const auto curvature = MeasureCurvature(all.hessian);
    EXPECT_TRUE(curvature.ok());
    all.log_evidence = LaplaceEvidence(-all.value, curvature->values);
    std::vector<SearchMode> modes = {all, alone};
    const double before = modes[1].log_evidence;
    EXPECT_TRUE(target.CompleteEvidence(modes).ok());
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

TEST(MomentTargetTest, EveryStartCanBeEvaluated) {
  for (const std::vector<int>& sizes : {std::vector<int>{6}, {6, 4}, {6, 4, 3}}) {
    const auto model =
        std::make_shared<const MomentModel>(ScaleData(SmallData(sizes, 2)), DefaultRecipe(KernelFamily::kRbf));
    const std::vector<Vector> starts = MomentTarget({model}).Starts(0);
    EXPECT_EQ(starts.size(), sizes.size() == 1 ? 2u : 4u);
    MomentObjective objective(model);
    for (const Vector& z : starts) {
      double value;
      EXPECT_TRUE(objective.Evaluate(z, &value, nullptr));
    }
  }
}

// A structure with all levels and one of the highest level alone.
TEST(MomentTargetTest, ASearchWeighsStructuresOfUnlikeLevels) {
  const Dataset data = SmallData({14, 9}, 1);
  std::vector<std::shared_ptr<const MomentModel>> models;
  for (const int first_level : {0, 1}) {
    Recipe recipe = DefaultRecipe(KernelFamily::kRbf);
    recipe.first_level = first_level;
    models.push_back(std::make_shared<const MomentModel>(ScaleData(data, first_level, ScalingOf(data, 0)), recipe));
  }
  const MomentTarget target(models);
  FitBudget budget(FitOptions{});
  SharedSearchState state;
  const auto result = RunSearch({.target = target, .settings = MomentSettings(23), .threads = 1}, budget, state);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->best.structure, 0);
  EXPECT_GE(result->report.chains, 4);
  EXPECT_GT(result->report.r_hat, 0.9);
  double whole = 0;
  for (const MomentDraw& draw : result->draws) whole += draw.structure == 0 ? draw.weight : 0;
  EXPECT_GT(whole, 0);
}

}  // namespace
}  // namespace fidelio
