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

Scores Score(const client::Prediction& prediction, const Eigen::VectorXd& y) {
  Scorer scorer;
  scorer.Add(prediction, y);
  return scorer.scores();
}

TEST(ScoreTest, PiecesGiveWhatTheWholeGives) {
  const Eigen::VectorXd y{{1e9 + 1, 1e9 + 2, 1e9 + 4, 1e9 + 8, 1e9 + 16}},
      mean{{1e9, 1e9 + 3, 1e9 + 4, 1e9 + 9, 1e9 + 1}};
  const Scores whole = Score(Predicted(mean, 1.5), y);
  Scorer pieces;
  EXPECT_EQ(pieces.scores().points, 0);
  pieces.Add(Predicted(mean.head(2), 1.5), y.head(2));
  pieces.Add(Predicted(mean.tail(3), 1.5), y.tail(3));
  EXPECT_EQ(pieces.scores().points, 5);
  EXPECT_DOUBLE_EQ(pieces.scores().rmse, whole.rmse);
  EXPECT_NEAR(pieces.scores().r2, whole.r2, 1e-7);  // means of 1e9 are rounded at 1e-7
  EXPECT_DOUBLE_EQ(pieces.scores().coverage, whole.coverage);
}

TEST(ScoreTest, MeasuresErrorFitAndCoverage) {
  const Scores scores = Score(Predicted(Eigen::Vector4d(0, 1, 2, 5), 1.5), Eigen::Vector4d(0, 1, 2, 3));
  EXPECT_DOUBLE_EQ(scores.rmse, 1);
  EXPECT_DOUBLE_EQ(scores.r2, 1 - 4.0 / 5);
  EXPECT_DOUBLE_EQ(scores.coverage, 0.75);
}

TEST(ScoreTest, MediansAreScoredBesideMeans) {
  client::Prediction prediction = Predicted(Eigen::Vector4d(9, 9, 9, 9), 1.5);
  EXPECT_FALSE(Score(prediction, Eigen::Vector4d(0, 1, 2, 3)).median_rmse.has_value()) << "an older server";
  prediction.median = Eigen::Vector4d(0, 1, 2, 5);
  const Scores scores = Score(prediction, Eigen::Vector4d(0, 1, 2, 3));
  EXPECT_GT(scores.rmse, 7);
  EXPECT_DOUBLE_EQ(scores.median_rmse.value(), 1);
  EXPECT_DOUBLE_EQ(scores.median_r2.value(), 1 - 4.0 / 5);
}

TEST(ScoreTest, ConstantOutputsHaveNoR2) {
  EXPECT_EQ(Score(Predicted(Eigen::Vector2d(1, 2), 1), Eigen::Vector2d(1, 1)).r2, 0);
}

}  // namespace
}  // namespace fidelio::cli
