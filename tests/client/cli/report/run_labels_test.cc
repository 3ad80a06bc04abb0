#include "client/cli/report/run_labels.h"

#include <cmath>

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

TEST(RunLabelsTest, LabelsOfCloseLinesStandInDifferentRows) {
  // 1, 4 and 5 are close together; so are 2 and 7, which five rows in turn would put into one.
  const std::vector<double> at = {20, 120, 200, 22, 24, 60, 121};
  const std::vector<std::string> texts = {"1", "2", "3", "4", "5", "6", "7"};
  const auto places = PlaceLabels(at, texts, 240);
  for (size_t i = 0; i < at.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double across = std::abs(at[i] + places[i].right - at[j] - places[j].right);
      const double down = std::abs(places[i].down - places[j].down);
      EXPECT_TRUE(across >= 13 || down >= 10) << texts[i] << " and " << texts[j];
    }
  }
  EXPECT_EQ(places[0].down, places[2].down);  // no row more than needed
}

TEST(RunLabelsTest, AtTheRightEdgeLabelsStandOnTheLeft) {
  const auto places = PlaceLabels({100, 238}, {"1", "12"}, 240);
  EXPECT_FALSE(places[0].on_left);
  EXPECT_TRUE(places[1].on_left);
  EXPECT_LT(places[1].right, 0);
}

}  // namespace
}  // namespace fidelio::cli
