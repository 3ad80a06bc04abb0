#include "core/baseline/stage_search.h"

#include <memory>
#include <string>

#include "core/gp/gp_objective.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

class StageSearchTest : public ::testing::TestWithParam<BaselineMethod> {
 protected:
  StageSearchTest() : data_(SmallData({12, 8}, 1)), model_(GetParam(), ScaleData(data_, 0, ScalingOf(data_, 0))) {
    request_.model = &model_;
    request_.kernel = KernelFamily::kRbf;
    request_.threads = 1;
  }

  Dataset data_;
  BaselineModel model_;
  SearchRequest request_;
};

// A mode as near to where the objective can't be evaluated any more as differences are wide: one of its hyperparameters is
// nearly too large for numbers.
TEST_P(StageSearchTest, FailedColumnsOfHessiansAreReported) {
  const StageForm form = model_.Forms(request_.kernel)[0];
  const auto stage = model_.Stage(form, {});
  ASSERT_TRUE(stage.ok()) << stage.status();
  GpObjective objective(**stage);
  double value;
  Vector gradient;
  const auto evaluates = [&](const Vector& z) { return objective.Evaluate(z, &value, &gradient); };
  SearchMode centre{.form = form, .z = Vector::Zero(objective.size())};
  ASSERT_TRUE(objective.Evaluate(centre.z, &centre.value, nullptr));
  int failed = 0;
  SearchMode edge = centre;
  for (int j = 0; j < objective.size() && failed == 0; ++j) {
    edge.z = centre.z;
    double inside = 0, outside = 1e5;
    while (outside - inside > 1e-5) {
      const double middle = edge.z[j] = (inside + outside) / 2;
      (evaluates(edge.z) ? inside : outside) = middle;
    }
    edge.z[j] = inside;
    if (!objective.Evaluate(edge.z, &edge.value, nullptr)) continue;
    for (int i = 0; i < objective.size(); ++i) {
      Vector z = edge.z;
      z[i] += 1e-3;
      const bool up = evaluates(z);
      z[i] -= 2e-3;
      failed += up && evaluates(z) ? 0 : 1;
    }
  }
  ASSERT_GT(failed, 0);
  SearchState before;
  before.modes = {centre, edge};
  SharedSearchState state(before);
  const auto result = RunStageSearch(request_, state);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->report.failed_curvature, failed);
}

TEST_P(StageSearchTest, NoColumnsOfHessiansFailOfSmallData) {
  SharedSearchState state;
  const auto result = RunStageSearch(request_, state);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->report.failed_curvature, 0);
}

INSTANTIATE_TEST_SUITE_P(Methods, StageSearchTest, ::testing::ValuesIn(kAllBaselineMethods),
                         [](const auto& test) { return std::string(NameOf(test.param)); });

}  // namespace
}  // namespace fidelio
