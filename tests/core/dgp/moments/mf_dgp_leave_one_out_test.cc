#include <cmath>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/dgp/moments/mf_dgp.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

using Eigen::Index;

Dataset Without(Dataset data, int level, Index left_out) {
  LevelData& at = data.levels[level];
  const Index last = at.y.size() - 1;
  at.x.row(left_out) = at.x.row(last);
  at.y[left_out] = at.y[last];
  at.x.conservativeResize(last, Eigen::NoChange);
  at.y.conservativeResize(last);
  return data;
}

Dataset NoisyData() {
  Dataset data = SmallData({24, 12}, 2);
  Random random(3, 0);
  for (LevelData& level : data.levels) {
    for (double& y : level.y) y += 0.1 * random.Normal();
  }
  return data;
}

std::vector<LeaveOneOut> PredictionsLeftOut(const MixtureEmulator& model) {
  auto result = model.LeaveOneOutPredictions();
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

TEST(MfDgpLeaveOneOutTest, AgreesWithModelsThatNeverSawTheObservation) {
  const Dataset data = NoisyData();
  const auto model = FitMfDgp(data, {.seed = 1});
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<LeaveOneOut> actual = PredictionsLeftOut(**model);
  ASSERT_EQ(actual.size(), 2u);
  EXPECT_EQ(actual[1].y, data.levels[1].y);
  double difference = 0, spread = 0;
  for (Index i = 0; i < 12; ++i) {
    const auto refit = FitMfDgp(Without(data, 1, i), {.seed = 1});
    ASSERT_TRUE(refit.ok()) << refit.status();
    const auto expected = (*refit)->Predict(data.levels[1].x.row(i), {.include_noise = true});
    ASSERT_TRUE(expected.ok());
    difference += std::pow(actual[1].mean[i] - expected->mean[0], 2);
    spread += expected->variance[0];
  }
  EXPECT_LT(difference, 0.15 * spread);
}

// One group of copies of three, at fixed hyperparameters: conditioning the same draws on the rest gives the same predictions.
TEST(MfDgpLeaveOneOutTest, CopiesArePredictedAsByAModelThatNeverSawTheirInput) {
  Dataset data = NoisyData();
  LevelData& high = data.levels[1];
  high.x.row(4) = high.x.row(1);
  high.x.row(11) = high.x.row(1);
  const auto model = FitMfDgp(data, {.seed = 1});
  ASSERT_TRUE(model.ok()) << model.status();
  const LeaveOneOut actual = PredictionsLeftOut(**model)[1];
  EXPECT_EQ(actual.group[4], actual.group[1]);
  EXPECT_EQ(actual.group[11], actual.group[1]);
  const auto rest = (*model)->Condition(Without(Without(Without(data, 1, 11), 1, 4), 1, 1), 1);
  ASSERT_TRUE(rest.ok()) << rest.status();
  const auto expected = (*rest)->Predict(high.x.row(1), {.include_noise = true});
  ASSERT_TRUE(expected.ok());
  const double inflation = (*(*rest)->LeaveOneOutPredictions())[1].inflation;
  for (const Index i : {1, 4, 11}) {
    EXPECT_NEAR(actual.mean[i], expected->mean[0], 0.2 * std::sqrt(expected->variance[0]));
    EXPECT_NEAR(actual.variance[i] / (expected->variance[0] / inflation), 1, 0.35);
  }
}

// What a table that is loaded twice must not do: make errors of leave-one-out vanish, and with them the inflation.
TEST(MfDgpLeaveOneOutTest, ATableThatIsLoadedTwiceLooksNoBetter) {
  const Dataset once = SmallData({20, 7}, 2);
  Dataset twice = once;
  for (LevelData& level : twice.levels) {
    level.x = level.x.replicate(2, 1).eval();
    level.y = level.y.replicate(2, 1).eval();
  }
  const auto model = FitMfDgp(once, {.seed = 1}), doubled = FitMfDgp(twice, {.seed = 1});
  ASSERT_TRUE(model.ok() && doubled.ok());
  const LeaveOneOut a = PredictionsLeftOut(**model)[1], b = PredictionsLeftOut(**doubled)[1];
  EXPECT_GT((b.y - b.mean).norm() / std::sqrt(2.0), 0.5 * (a.y - a.mean).norm());
  EXPECT_GT(b.variance.minCoeff(), 0.1 * a.variance.minCoeff());
}

TEST(MfDgpLeaveOneOutTest, SaysNothingOfALevelWithoutObservations) {
  const auto model = FitMfDgp(SmallData({9, 0, 4}, 1), {.seed = 1});
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<LeaveOneOut> actual = PredictionsLeftOut(**model);
  EXPECT_EQ(actual[1].y.size(), 0);
  EXPECT_EQ(actual[1].cdf.size(), 0);
  EXPECT_EQ(actual[2].y.size(), 4);
}

TEST(MfDgpLeaveOneOutTest, ProbabilitiesAndDensitiesBelongTogether) {
  const auto model = FitMfDgp(NoisyData(), {.seed = 1});
  ASSERT_TRUE(model.ok()) << model.status();
  for (const LeaveOneOut& at : PredictionsLeftOut(**model)) {
    for (Index i = 0; i < at.y.size(); ++i) {
      const double z = (at.y[i] - at.mean[i]) / std::sqrt(at.variance[i]);
      EXPECT_GT(at.variance[i], 0);
      EXPECT_NEAR(at.cdf[i], 0.5 * std::erfc(-z / std::sqrt(2.0)), 0.1);  // the mixture is nearly a Gaussian here
      EXPECT_NEAR(at.log_density[i], -0.5 * (z * z + std::log(2 * M_PI * at.variance[i])), 0.4);
    }
    EXPECT_GT(at.cdf.minCoeff(), 0);
    EXPECT_LT(at.cdf.maxCoeff(), 1);
  }
}

TEST(MfDgpLeaveOneOutTest, AnOutlierIsSeenAndWidensWhatIsServed) {
  Dataset data = SmallData({14, 8}, 1);
  data.levels[1].y[3] += 2;
  const auto model = FitMfDgp(data, {.seed = 1});
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<LeaveOneOut> actual = PredictionsLeftOut(**model);
  const Vector z = (actual[1].y - actual[1].mean).cwiseAbs().cwiseQuotient(actual[1].variance.cwiseSqrt());
  Index worst = 0;
  z.maxCoeff(&worst);
  EXPECT_EQ(worst, 3);
  EXPECT_EQ(actual[0].inflation, 1);
  EXPECT_GE(actual[1].inflation, 1);
}

}  // namespace
}  // namespace fidelio
