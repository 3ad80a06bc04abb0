#include "server/model/fit_history.h"

#include "gtest/gtest.h"

namespace fidelio {
namespace {

std::vector<FitPoint> After(int64_t iterations) {
  std::vector<FitPoint> history;
  for (int64_t i = 1; i <= iterations; ++i) {
    AddToHistory({.phase = "optimise", .iteration = i, .elbo = static_cast<double>(-i)}, history);
  }
  return history;
}

TEST(FitHistoryTest, KeepsEveryIterationOfAShortFit) {
  const std::vector<FitPoint> history = After(150);
  ASSERT_EQ(history.size(), 150u);
  EXPECT_EQ(history[149].iteration, 150);
  EXPECT_EQ(history[149].elbo, -150);
}

TEST(FitHistoryTest, StaysSmallAndKeepsTheFirstAndTheNewestIteration) {
  for (const int64_t iterations : {200, 201, 400, 1000, 12345}) {
    const std::vector<FitPoint> history = After(iterations);
    EXPECT_LE(history.size(), static_cast<size_t>(kMostFitPoints)) << iterations;
    EXPECT_GE(history.size(), static_cast<size_t>(kMostFitPoints / 2)) << iterations;
    EXPECT_EQ(history.front().iteration, 1) << iterations;
    EXPECT_EQ(history.back().iteration, iterations);
  }
}

TEST(FitHistoryTest, PointsAreEvenlySpacedButForTheNewest) {
  const std::vector<FitPoint> history = After(5000);
  const int64_t stride = history[1].iteration - history[0].iteration;
  EXPECT_EQ(stride, 32);
  for (size_t i = 2; i + 1 < history.size(); ++i) {
    EXPECT_EQ(history[i].iteration - history[i - 1].iteration, stride);
  }
}

TEST(FitHistoryTest, AFitThatGoesOnFromAnOlderStateForgetsWhatItDidAfterIt) {
  std::vector<FitPoint> history = After(50);
  AddToHistory({.phase = "sample", .iteration = 41, .elbo = 7}, history);
  ASSERT_EQ(history.size(), 41u);
  EXPECT_EQ(history.back().elbo, 7);
}

}  // namespace
}  // namespace fidelio
