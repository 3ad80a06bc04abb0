#include "tests/bench/metrics.h"

#include <cmath>
#include <numbers>

#include "gtest/gtest.h"

namespace fidelio::bench {
namespace {

using std::numbers::pi;

// A prediction N(mean, sd²) at every point, with its true quantiles.
Prediction Gaussian(const Vector& mean, double sd) {
  Prediction prediction;
  prediction.mean = mean;
  prediction.variance = Vector::Constant(mean.size(), sd * sd);
  prediction.quantiles.resize(mean.size(), 2);
  prediction.quantiles.col(0) = mean.array() - 1.959963984540054 * sd;
  prediction.quantiles.col(1) = mean.array() + 1.959963984540054 * sd;
  return prediction;
}

TEST(ScoreTest, APerfectPredictionHasNoErrorAndCoversEverything) {
  const Vector y{{1, 2, 4}};
  const Scores scores = Score(y, Gaussian(y, 0.5));
  EXPECT_EQ(scores.rmse, 0);
  EXPECT_EQ(scores.r2, 1);
  EXPECT_EQ(scores.coverage95, 1);
  EXPECT_NEAR(scores.mnll, 0.5 * std::log(2 * pi * 0.25), 1e-15);
  // CRPS of N(0, s²) at its mean: s(√2 − 1)/√π.
  EXPECT_NEAR(scores.crps, 0.5 * (std::sqrt(2) - 1) / std::sqrt(pi), 1e-15);
}

TEST(ScoreTest, TheMeanOfTheTargetsHasZeroR2) {
  const Vector y{{-1, 0, 1}};
  const Scores scores = Score(y, Gaussian(Vector::Zero(3), 1));
  EXPECT_NEAR(scores.r2, 0, 1e-15);
  EXPECT_NEAR(scores.rmse, std::sqrt(2.0 / 3), 1e-15);
  EXPECT_NEAR(scores.mnll, 0.5 * std::log(2 * pi) + 0.5 * 2 / 3, 1e-15);
}

TEST(ScoreTest, CrpsOfACertainPredictionIsTheAbsoluteError) {
  const Scores scores = Score(Vector{{3, -1}}, Gaussian(Vector::Zero(2), 1e-9));
  EXPECT_NEAR(scores.crps, 2, 1e-8);
}

TEST(ScoreTest, CrpsEqualsItsDefiningIntegral) {
  const double mean = 0.3, sd = 0.7, y = 1.1;
  double integral = 0;
  const double step = 1e-4;
  for (double t = -8; t < 9; t += step) {
    const double cdf = 0.5 * std::erfc(-(t + step / 2 - mean) / sd / std::sqrt(2));
    const double difference = cdf - (t + step / 2 >= y ? 1 : 0);
    integral += step * difference * difference;
  }
  EXPECT_NEAR(Score(Vector::Constant(1, y), Gaussian(Vector::Constant(1, mean), sd)).crps, integral, 1e-4);
}

TEST(ScoreTest, CoverageCountsTargetsBetweenTheQuantiles) {
  const Scores scores = Score(Vector{{0, 1.9, 2.1, -5}}, Gaussian(Vector::Zero(4), 1));
  EXPECT_EQ(scores.coverage95, 0.5);
}

TEST(MeanTest, OfNothingIsZero) {
  EXPECT_EQ(Mean({}), 0);
  EXPECT_EQ(Mean({1, 2, 6}), 3);
}

TEST(PercentileTest, IsTheSmallestValueThatEnoughValuesDoNotExceed) {
  EXPECT_EQ(Percentile({}, 0.9), 0);
  EXPECT_EQ(Percentile({5}, 0.9), 5);
  EXPECT_EQ(Percentile({10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.9), 9);
  EXPECT_EQ(Percentile({3, 1, 2}, 0), 1);
  EXPECT_EQ(Percentile({3, 1, 2}, 1), 3);
}

}  // namespace
}  // namespace fidelio::bench
