#include "core/dgp/moments/moment_fit.h"

#include <memory>
#include <vector>

#include "core/dgp/moments/moment_objective.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

// A structure with all levels and one of the highest level alone.
MomentFitRequest WholeAndPart() {
  const Dataset data = SmallData({14, 9}, 1);
  MomentFitRequest request;
  for (const int first_level : {0, 1}) {
    Recipe recipe = DefaultRecipe(KernelFamily::kRbf);
    recipe.first_level = first_level;
    request.structures.push_back(
        std::make_shared<const MomentModel>(ScaleData(data, first_level, ScalingOf(data, 0)), recipe));
  }
  request.threads = 1;
  return request;
}

TEST(MomentFitTest, EveryLevelKeepsADrawWhenTheBudgetEndsBeforeItsChainsHaveSome) {
  const MomentFitRequest request = WholeAndPart();
  SharedFitState state;
  ASSERT_TRUE(RunMomentFit(request, state).ok());
  // As if time had run out for the chains of the first structure.
  MomentFitState ended = state.Copy();
  bool part_sampled = false;
  for (ModeState& mode : ended.modes) mode.weight = 1;
  ended.chains.clear();
  for (size_t m = 0; m < ended.modes.size(); ++m) {
    for (const ChainState& chain : state.Copy().chains) {
      if (chain.mode != static_cast<int>(m)) continue;
      ended.chains.push_back(chain);
      if (ended.modes[m].structure == 0) ended.chains.back().trace.clear();
      part_sampled = part_sampled || ended.modes[m].structure == 1;
    }
  }
  if (!part_sampled) {  // a chain that has done its work, at the mode of the part
    ASSERT_EQ(ended.modes.back().structure, 1);
    ChainState chain = ended.chains[0];
    chain.mode = static_cast<int>(ended.modes.size()) - 1;
    chain.trace.assign(20, ended.modes.back().z);
    ended.chains.push_back(chain);
  }
  SharedFitState cut(ended);
  const auto result = RunMomentFit(request, cut);
  ASSERT_TRUE(result.ok()) << result.status();
  double whole = 0, part = 0;
  for (const MomentDraw& draw : result->draws) (draw.structure == 0 ? whole : part) += draw.weight;
  EXPECT_GT(whole, 0);
  EXPECT_GT(part, 0);
  EXPECT_NEAR(whole + part, 1, 1e-12);
}

TEST(MomentFitTest, ReportsChainsRHatAndEffectiveSize) {
  SharedFitState state;
  const auto result = RunMomentFit(WholeAndPart(), state);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GE(result->report.chains, 4);
  EXPECT_GT(result->report.r_hat, 0.9);
  EXPECT_GT(result->report.effective_size, 1);
  EXPECT_EQ(result->report.failed_curvature, 0);
  std::vector<int> per_mode(state.Copy().modes.size(), 0);
  for (const ChainState& chain : state.Copy().chains) ++per_mode[chain.mode];
  for (const int chains : per_mode) EXPECT_NE(chains, 1);
}

// Columns of the Hessian at z, by differences as wide as those of a fit, that can't be measured.
int ColumnsThatFail(MomentObjective& objective, Vector z) {
  double value;
  Vector gradient;
  int failed = 0;
  for (double& v : z) {
    const double centre = v;
    v += 1e-3;
    const bool up = objective.Evaluate(z, &value, &gradient);
    v -= 2e-3;
    failed += up && objective.Evaluate(z, &value, &gradient) ? 0 : 1;
    v = centre;
  }
  return failed;
}

// With a variance of layer 1 that is so large that rounding decides whether level 1 can be factorised.
TEST(MomentFitTest, FailedColumnsOfHessiansAreReported) {
  const MomentFitRequest request = WholeAndPart();
  SharedFitState state;
  ASSERT_TRUE(RunMomentFit(request, state).ok());
  MomentFitState before = state.Copy();  // as if its Hessians were still to be measured
  before.chains.clear();
  for (ModeState& mode : before.modes) mode.hessian.resize(0, 0);
  MomentObjective objective(request.structures[0]);
  ModeState edge;
  edge.z = before.modes[0].z;
  double& amplitude = edge.z[request.structures[0]->layout.first.amplitude];
  int failed = 0;
  for (; failed == 0 && amplitude < 20; amplitude += failed == 0 ? 0.01 : 0) {
    if (objective.Evaluate(edge.z, &edge.value, nullptr)) failed = ColumnsThatFail(objective, edge.z);
  }
  ASSERT_GT(failed, 0);
  before.modes.push_back(edge);
  SharedFitState again(before);
  const auto result = RunMomentFit(request, again);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->report.failed_curvature, failed);
  EXPECT_EQ(again.Copy().modes.back().failed_columns, failed);
}

TEST(MomentFitTest, AFitWithoutAStartOfAllLevelsIsAnError) {
  MomentFitRequest request = WholeAndPart();
  request.structures.erase(request.structures.begin());
  SharedFitState state;
  const auto result = RunMomentFit(request, state);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace fidelio
