#include "core/optim/lbfgs.h"

#include <cmath>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/function_objective.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

constexpr auto kForever = [](double) { return true; };

FunctionObjective Rosenbrock(int n) {
  return FunctionObjective(n, [n](const Vector& x, Vector* gradient) {
    double value = 0;
    Vector g = Vector::Zero(n);
    for (int i = 0; i + 1 < n; ++i) {
      const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
      value += 100 * a * a + b * b;
      g[i] += -400 * a * x[i] - 2 * b;
      g[i + 1] += 200 * a;
    }
    if (gradient != nullptr) *gradient = g;
    return value;
  });
}

// x − log x, which is defined for x > 0 only and has its minimum 1 at 1.
FunctionObjective Barrier() {
  return FunctionObjective(
      1,
      [](const Vector& x, Vector* gradient) {
        if (gradient != nullptr) *gradient = Vector::Constant(1, 1 - 1 / x[0]);
        return x[0] - std::log(x[0]);
      },
      [](const Vector& x) { return x[0] > 0; });
}

// Dimension, and where every other coordinate starts.
class RosenbrockTest : public testing::TestWithParam<std::pair<int, double>> {};

TEST_P(RosenbrockTest, IsMinimised) {
  const auto [n, first] = GetParam();
  FunctionObjective f = Rosenbrock(n);
  Vector start = Vector::Ones(n);
  for (int i = 0; i < n; i += 2) start[i] = first;
  const LbfgsResult result =
      MinimiseLbfgs(f, start, {.max_iterations = 1000, .gradient_tolerance = 1e-8, .value_tolerance = 1e-16}, kForever);
  EXPECT_TRUE(result.converged);
  EXPECT_FALSE(result.stopped);
  EXPECT_LT(result.value, 1e-12);
  EXPECT_TRUE(Near(result.x, Vector::Ones(n), 1e-5));
  EXPECT_EQ(result.evaluations, f.evaluations());
}

INSTANTIATE_TEST_SUITE_P(Starts, RosenbrockTest,
                         testing::Values(std::pair{2, -1.2}, std::pair{2, 0.5}, std::pair{3, -3.0}, std::pair{10, -1.0},
                                         std::pair{20, -3.0}));

TEST(LbfgsTest, BacksOutOfTheRegionWhereTheObjectiveCantBeEvaluated) {
  FunctionObjective f = Barrier();
  int refused = 0;
  FunctionObjective counted(
      1,
      [&](const Vector& x, Vector* gradient) {
        double value;
        EXPECT_TRUE(f.Evaluate(x, &value, gradient));
        return value;
      },
      [&](const Vector& x) {
        refused += x[0] <= 0;
        return x[0] > 0;
      });
  const LbfgsResult result =
      MinimiseLbfgs(counted, Vector::Constant(1, 8), {.gradient_tolerance = 1e-8, .value_tolerance = 1e-16}, kForever);
  EXPECT_GT(refused, 0) << "the border was never crossed: this start shows nothing";
  EXPECT_NEAR(result.x[0], 1, 1e-6);
  EXPECT_NEAR(result.value, 1, 1e-12);
}

TEST(LbfgsTest, AStartThatCantBeEvaluatedGivesAnInfiniteValue) {
  FunctionObjective f = Barrier();
  const LbfgsResult result = MinimiseLbfgs(f, Vector::Constant(1, -2), {}, kForever);
  EXPECT_EQ(result.value, HUGE_VAL);
  EXPECT_EQ(result.x, Vector::Constant(1, -2));
}

TEST(LbfgsTest, StopsBeforeTheEvaluationThatWasRefused) {
  for (const int allowed : {0, 1, 7}) {
    FunctionObjective f = Rosenbrock(4);
    int asked = 0;
    const LbfgsResult result = MinimiseLbfgs(f, Vector::Constant(4, -1), {}, [&](double) { return asked++ < allowed; });
    EXPECT_TRUE(result.stopped);
    EXPECT_FALSE(result.converged);
    EXPECT_EQ(result.evaluations, allowed);
    EXPECT_EQ(f.evaluations(), allowed);
  }
}

TEST(LbfgsTest, TellsTheBestValueAfterEveryEvaluation) {
  FunctionObjective f = Rosenbrock(4);
  std::vector<double> asked, told;
  const LbfgsResult result = MinimiseLbfgs(
      f, Vector::Constant(4, -1), {},
      [&](double best) {
        asked.push_back(best);
        return true;
      },
      [&](double best) { told.push_back(best); });
  ASSERT_EQ(static_cast<int64_t>(told.size()), result.evaluations);
  ASSERT_EQ(asked.size(), told.size());
  EXPECT_EQ(asked[0], HUGE_VAL);  // nothing is known before the first
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_TRUE(std::isfinite(told[i]));
    if (i > 0) {
      EXPECT_EQ(asked[i], told[i - 1]);
    }
  }
  EXPECT_EQ(told.back(), result.value);
}

TEST(LbfgsTest, GivesTheBestPointSeenWhenItIsStopped) {
  FunctionObjective f = Rosenbrock(4);
  double best_told = HUGE_VAL;
  int asked = 0;
  const LbfgsResult result = MinimiseLbfgs(f, Vector::Constant(4, -1), {}, [&](double best) {
    EXPECT_LE(best, best_told);
    best_told = best;
    return asked++ < 12;
  });
  EXPECT_EQ(result.value, best_told);
  double value;
  ASSERT_TRUE(f.Evaluate(result.x, &value, nullptr));
  EXPECT_EQ(value, result.value);
  ASSERT_TRUE(f.Evaluate(Vector::Constant(4, -1), &value, nullptr));
  EXPECT_LT(result.value, value);
}

TEST(LbfgsTest, EndsUnconvergedAfterTheLastIteration) {
  FunctionObjective f = Rosenbrock(20);
  const LbfgsResult result = MinimiseLbfgs(f, Vector::Constant(20, -1), {.max_iterations = 5}, kForever);
  EXPECT_FALSE(result.converged);
  EXPECT_FALSE(result.stopped);
  EXPECT_TRUE(std::isfinite(result.value));
}

TEST(LbfgsTest, AMinimumAsStartIsKept) {
  FunctionObjective f = Rosenbrock(3);
  const LbfgsResult result = MinimiseLbfgs(f, Vector::Ones(3), {}, kForever);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.x, Vector::Ones(3));
  EXPECT_EQ(result.value, 0);
}

TEST(LbfgsTest, IsReproducible) {
  FunctionObjective f = Rosenbrock(6);
  const LbfgsResult a = MinimiseLbfgs(f, Vector::Constant(6, -1), {}, kForever);
  const LbfgsResult b = MinimiseLbfgs(f, Vector::Constant(6, -1), {}, kForever);
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.evaluations, b.evaluations);
}

}  // namespace
}  // namespace fidelio
