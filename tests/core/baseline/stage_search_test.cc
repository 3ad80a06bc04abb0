#include "core/baseline/stage_search.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

class StageSearchTest : public ::testing::TestWithParam<BaselineMethod> {};

TEST_P(StageSearchTest, NoColumnsOfHessiansFailOfSmallData) {
  const BaselineModel model(GetParam(), ScaleData(SmallData({12, 8}, 1)));
  FitBudget budget(FitOptions{});
  StageProgress progress;
  const auto done = RunStageSearch(model, {.threads = 1}, {}, budget, progress);
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->report.failed_curvature, 0);
  EXPECT_EQ(static_cast<int>(done->found.size()), model.stages());
  EXPECT_EQ(static_cast<int>(progress.Copy().done.found.size()), model.stages());
  EXPECT_TRUE(progress.Copy().search.starts.empty());
}

TEST_P(StageSearchTest, FormsAreTheStructuresOfAStage) {
  const BaselineModel model(GetParam(), ScaleData(SmallData({12, 8}, 1)));
  const auto one = StageTarget::Create(model, KernelFamily::kMatern52, {}, 0);
  const auto all = StageTarget::Create(model, std::nullopt, {}, 0);
  ASSERT_TRUE(one.ok() && all.ok());
  EXPECT_EQ(4 * one->structures(), all->structures());
  for (int k = 0; k < all->structures(); ++k) {
    for (const Vector& z : all->Starts(k)) {
      double value;
      EXPECT_TRUE(all->NewObjective(k)->Evaluate(z, &value, nullptr)) << all->FailureAt(k, z);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, StageSearchTest, ::testing::ValuesIn(kAllBaselineMethods),
                         [](const auto& test) { return std::string(NameOf(test.param)); });

}  // namespace
}  // namespace fidelio
