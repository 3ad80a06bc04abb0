#include "core/emulator/skewness.h"

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(SkewnessTest, MeanAndMedianPartOutsideTheCentralHalf) {
  EXPECT_FALSE(MeanAndMedianPart(0.5));
  EXPECT_FALSE(MeanAndMedianPart(0.26));
  EXPECT_FALSE(MeanAndMedianPart(0.74));
  EXPECT_TRUE(MeanAndMedianPart(0.76));
  EXPECT_TRUE(MeanAndMedianPart(0.24));
}

TEST(SkewnessTest, AWarningCountsTheInputsAndShowsTheFurthest) {
  Prediction p{.mean = Vector{{3, 40, 9}}, .median = Vector{{3, 2, 4}}, .mean_cdf = Vector{{0.5, 0.95, 0.8}}};
  EXPECT_EQ(
      PredictionWarnings(p),
      (std::vector<std::string>{"At 2 of 3 inputs, the predicted mean lies outside the central 50 % interval "
                                "(furthest: mean 40, median 2). The distribution is skewed there: use the median."}));
  p.mean_cdf.setConstant(0.6);
  EXPECT_TRUE(PredictionWarnings(p).empty());
  EXPECT_TRUE(PredictionWarnings(Prediction()).empty());
}

TEST(SkewnessTest, AWarningAboutLeaveOneOutNamesTheFidelity) {
  const LeaveOneOut left_out{.y = Vector{{1}},
                             .mean = Vector{{40}},
                             .variance = Vector{{1}},
                             .cdf = Vector{{0.5}},
                             .log_density = Vector{{0}},
                             .median = Vector{{2}},
                             .mean_cdf = Vector{{0.95}}};
  ASSERT_EQ(LeaveOneOutWarnings(left_out, "high").size(), 1);
  EXPECT_EQ(LeaveOneOutWarnings(left_out, "high")[0].find("At 1 of 1 left-out observation of fidelity \"high\", the"),
            0);
}

}  // namespace
}  // namespace fidelio
