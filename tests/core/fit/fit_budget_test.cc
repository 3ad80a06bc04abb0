#include "core/fit/fit_budget.h"

#include <vector>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

// Keeps what it is told; says no from a number of iterations on.
class Listener : public FitObserver {
 public:
  explicit Listener(const FitBudget* budget = nullptr, int64_t calls = 1 << 30) : budget_(budget), calls_(calls) {}
  bool OnProgress(const FitProgress& progress) override {
    heard.push_back(progress);
    if (budget_ != nullptr) {
      EXPECT_EQ(budget_->used().iterations, progress.iteration);
    }
    return progress.iteration < calls_;
  }
  std::vector<FitProgress> heard;

 private:
  const FitBudget* budget_;
  const int64_t calls_;
};

TEST(FitBudgetTest, CountsAndTells) {
  FitBudget budget(FitOptions{}, {.iterations = 5, .evaluations = 9, .seconds = 100});
  Listener listener(&budget);
  budget.Begin(&listener);
  EXPECT_TRUE(budget.Tick("optimise", 2, -3, 0.5));
  ASSERT_EQ(listener.heard.size(), 1u);
  EXPECT_EQ(listener.heard[0].iteration, 6);
  EXPECT_EQ(listener.heard[0].evaluations, 11);
  EXPECT_EQ(listener.heard[0].log_posterior, -3);
  EXPECT_EQ(listener.heard[0].fraction, 0.5);
  EXPECT_GE(listener.heard[0].seconds, 100);
  EXPECT_EQ(budget.used().seconds, listener.heard[0].seconds);
}

TEST(FitBudgetTest, PartsShareTheProgressBarWhichNeverMovesBack) {
  FitBudget budget(FitOptions{});
  Listener listener;
  budget.Begin(&listener);
  budget.SetPart(0, 0.4);
  budget.Tick("a", 1, 0, 0.5);
  budget.Tick("a", 1, 0, 0.25);
  budget.SetPart(0.4, 0.6, -7);
  budget.Tick("b", 1, -2, 0.5);
  EXPECT_DOUBLE_EQ(listener.heard[0].fraction, 0.2);
  EXPECT_DOUBLE_EQ(listener.heard[1].fraction, 0.2);
  EXPECT_DOUBLE_EQ(listener.heard[2].fraction, 0.7);
  EXPECT_EQ(listener.heard[2].log_posterior, -9);
}

TEST(FitBudgetTest, ACancelledFitStopsAtOnceAndMayGoOn) {
  FitBudget budget(FitOptions{});
  Listener listener(nullptr, 2);
  budget.Begin(&listener);
  EXPECT_TRUE(budget.Tick("a", 1, 0, 0));
  EXPECT_FALSE(budget.Tick("a", 1, 0, 0));
  EXPECT_FALSE(budget.Tick("a", 1, 0, 0));
  EXPECT_EQ(listener.heard.size(), 2u) << "nobody is told after a no";
  EXPECT_EQ(budget.CheckCancelled().code(), absl::StatusCode::kCancelled);
  budget.Begin(nullptr);
  EXPECT_TRUE(budget.CheckCancelled().ok());
  EXPECT_TRUE(budget.Tick("a", 1, 0, 0));
}

TEST(FitBudgetTest, TheFirstEvaluationIsAlwaysMade) {
  FitBudget budget(FitOptions{.max_seconds = 1e-9, .max_iterations = 1});
  budget.Begin(nullptr);
  EXPECT_TRUE(budget.Tick("a", 1, 0, 0));
  EXPECT_TRUE(budget.HasIterations());
  EXPECT_FALSE(budget.Tick("a", 1, 0, 0));
  EXPECT_FALSE(budget.HasIterations());
  EXPECT_TRUE(budget.stopped());
  EXPECT_FALSE(budget.cancelled());
}

TEST(FitBudgetTest, AFitThatCountsItselfStopsAtItsIterations) {
  FitBudget budget(FitOptions{.max_iterations = 10});
  budget.Begin(nullptr);
  EXPECT_TRUE(budget.Reached("a", 9, 0, 0));
  EXPECT_FALSE(budget.Reached("a", 10, 0, 0));
  EXPECT_FALSE(budget.stopped()) << "only its iterations are used up";
  EXPECT_EQ(budget.used().evaluations, 10);
}

TEST(FitBudgetTest, SharesAddUp) {
  for (const int64_t iterations : {0, 1, 7, 100}) {
    int64_t sum = 0;
    for (int i = 0; i < 3; ++i) sum += FitBudget::Share(iterations, 3, i);
    EXPECT_EQ(sum, iterations);
  }
}

}  // namespace
}  // namespace fidelio
