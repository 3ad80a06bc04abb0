#include "client/cli/score.h"

#include <cmath>

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

client::Prediction Predicted(const Eigen::VectorXd& mean, double half_width) {
  client::Prediction prediction;
  prediction.mean = mean;
  prediction.quantiles.resize(mean.size(), 2);
  prediction.quantiles << mean.array() - half_width, mean.array() + half_width;
  return prediction;
}

TEST(ScoreTest, MeasuresErrorFitAndCoverage) {
  const Scores scores = ComputeScores(Predicted(Eigen::Vector4d(0, 1, 2, 5), 1.5), Eigen::Vector4d(0, 1, 2, 3));
  EXPECT_DOUBLE_EQ(scores.rmse, 1);
  EXPECT_DOUBLE_EQ(scores.r2, 1 - 4.0 / 5);
  EXPECT_DOUBLE_EQ(scores.coverage, 0.75);
}

TEST(ScoreTest, ConstantOutputsHaveNoR2) {
  EXPECT_EQ(ComputeScores(Predicted(Eigen::Vector2d(1, 2), 1), Eigen::Vector2d(1, 1)).r2, 0);
}

}  // namespace
}  // namespace fidelio::cli
