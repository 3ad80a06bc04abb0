#include "core/design/suggest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "Eigen/LU"
#include "gtest/gtest.h"
#include "tests/support/gaussian_emulator.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

Matrix Grid(int n) { return Vector::LinSpaced(n, 0, 1); }

Suggestions SuggestOrDie(const Emulator& model, const Matrix& candidates, const SuggestOptions& options,
                         const Matrix& observed = Matrix(0, 1)) {
  auto result = Suggest(model, candidates, Grid(40), observed, options);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

// Mean variance of f_1 at the targets when these runs are known, by plain linear algebra.
double VarianceGiven(const GaussianEmulator& model, const Matrix& candidates, const std::vector<Suggestion>& runs) {
  const Matrix targets = Grid(40);
  const Index q = static_cast<Index>(runs.size()), m = targets.rows();
  Matrix x(q + m, 1);
  std::vector<int> levels(q + m, 1);
  for (Index i = 0; i < q; ++i) {
    x.row(i) = candidates.row(runs[i].candidate);
    levels[i] = runs[i].level;
  }
  x.bottomRows(m) = targets;
  const Matrix k = model.JointMomentsAt(x, levels, {})->covariance;
  const Matrix known = k.topLeftCorner(q, q) + model.noise * Matrix::Identity(q, q);
  const Matrix cross = k.topRightCorner(q, m);
  return (k.bottomRightCorner(m, m).diagonal() - (cross.transpose() * known.inverse() * cross).diagonal()).mean();
}

TEST(SuggestTest, TheFirstRunReducesTheVarianceMostPerCost) {
  GaussianEmulator model;
  model.noise = 0.01;
  const Matrix candidates = Grid(17);
  const std::vector<double> costs = {0.4, 1};
  const Suggestion chosen = SuggestOrDie(model, candidates, {.costs = costs}).runs.at(0);
  double best = 0;
  for (int level = 0; level < 2; ++level) {
    for (int i = 0; i < 17; ++i) {
      const Suggestion run{.candidate = i, .level = level};
      best = std::max(best, (1 - VarianceGiven(model, candidates, {run})) / costs[level]);
    }
  }
  EXPECT_NEAR(chosen.value / chosen.cost, best, 1e-10);
  EXPECT_NEAR(1 - VarianceGiven(model, candidates, {chosen}), chosen.value, 1e-10);
}

TEST(SuggestTest, TheVarianceAfterAllRunsIsThatOfTheConditionedProcess) {
  GaussianEmulator model;
  model.noise = 0.003;
  const Matrix candidates = Grid(23);
  const Suggestions result = SuggestOrDie(model, candidates, {.count = 6, .costs = {0.5, 1}});
  ASSERT_EQ(result.runs.size(), 6u);
  EXPECT_NEAR(result.variance_before, 1, 1e-12);
  EXPECT_NEAR(result.variance_after, VarianceGiven(model, candidates, result.runs), 1e-10);
  double reductions = 0;
  for (const Suggestion& run : result.runs) reductions += run.value;
  EXPECT_NEAR(result.variance_before - reductions, result.variance_after, 1e-10);
}

TEST(SuggestTest, ALevelIsRunWhenItTellsEnoughForItsCost) {
  GaussianEmulator model;
  const auto levels = [&](double correlation, double low_cost) {
    model.correlation = correlation;
    std::set<int> used;
    for (const Suggestion& run : SuggestOrDie(model, Grid(21), {.count = 4, .costs = {low_cost, 1}}).runs) {
      used.insert(run.level);
    }
    return used;
  };
  EXPECT_EQ(levels(0.95, 0.1), std::set<int>{0});
  EXPECT_EQ(levels(0.0, 0.1), std::set<int>{1});    // it tells nothing
  EXPECT_EQ(levels(0.95, 0.99), std::set<int>{1});  // it is hardly cheaper
}

TEST(SuggestTest, RunsOfABatchKeepTheirDistance) {
  const GaussianEmulator model;
  for (const Criterion criterion : {Criterion::kVarianceReduction, Criterion::kMaximumVariance,
                                    Criterion::kExpectedImprovement, Criterion::kConfidenceBound}) {
    const Suggestions result =
        SuggestOrDie(model, Grid(41), {.criterion = criterion, .count = 4, .costs = {1, 1}, .levels = {1}});
    std::vector<int> at;
    for (const Suggestion& run : result.runs) at.push_back(run.candidate);
    std::sort(at.begin(), at.end());
    ASSERT_EQ(at.size(), 4u);
    for (int i = 1; i < 4; ++i) EXPECT_GE(at[i] - at[i - 1], 4) << static_cast<int>(criterion);
  }
}

TEST(SuggestTest, TheBudgetIsKept) {
  const GaussianEmulator model;
  const Suggestions result = SuggestOrDie(model, Grid(30), {.count = 50, .budget = 2.35, .costs = {0.2, 1}});
  double spent = 0;
  for (const Suggestion& run : result.runs) spent += run.cost;
  EXPECT_LE(spent, 2.35);
  EXPECT_GT(spent, 2.15);  // nothing more could be paid for
  EXPECT_TRUE(SuggestOrDie(model, Grid(30), {.count = 5, .budget = 0.1, .costs = {0.2, 1}}).runs.empty());
}

TEST(SuggestTest, TooFewRunsHaveAReason) {
  const GaussianEmulator model;
  const auto shortfall = [&](const Matrix& candidates, const SuggestOptions& options) {
    return SuggestOrDie(model, candidates, options).shortfall;
  };
  EXPECT_EQ(shortfall(Grid(30), {.count = 3, .costs = {0.2, 1}}), Shortfall::kNone);
  EXPECT_EQ(shortfall(Grid(30), {.count = 3, .budget = 0.1, .costs = {0.2, 1}}), Shortfall::kBudgetTooSmall);
  EXPECT_EQ(shortfall(Grid(30), {.count = 3, .budget = 0.5, .costs = {0.2, 1}, .levels = {1}}),
            Shortfall::kBudgetTooSmall);
  EXPECT_EQ(shortfall(Grid(30), {.count = 3, .budget = 2.5, .costs = {0.2, 1}, .levels = {1}}),
            Shortfall::kBudgetSpent);
  EXPECT_EQ(shortfall(Grid(2), {.count = 3, .costs = {1, 1}, .levels = {1}}), Shortfall::kNothingToLearn);
  // What is left pays for the cheap level, which has nothing more to tell.
  EXPECT_EQ(shortfall(Grid(1), {.count = 3, .budget = 2.5, .costs = {1, 2}}), Shortfall::kBudgetSpent);
}

TEST(SuggestTest, WhatIsKnownIsNotRunAgain) {
  const GaussianEmulator model;  // without noise: a run tells everything about its input
  const Suggestions result = SuggestOrDie(model, Grid(3), {.count = 20, .costs = {1, 1}, .levels = {1}});
  EXPECT_EQ(result.runs.size(), 3u);
}

TEST(SuggestTest, OptimisersLookWhereTheHighestFidelityIsGood) {
  GaussianEmulator model;
  model.lengthscale = 0.02;
  model.mean = [](const Eigen::RowVectorXd& x) { return 10 * x[0]; };
  const Matrix candidates = Grid(31);
  for (const Criterion criterion : {Criterion::kExpectedImprovement, Criterion::kConfidenceBound}) {
    SuggestOptions options{.criterion = criterion, .costs = {1, 1}};
    EXPECT_EQ(SuggestOrDie(model, candidates, options).runs.at(0).candidate, 0);
    options.maximise = true;
    EXPECT_EQ(SuggestOrDie(model, candidates, options).runs.at(0).candidate, 30);
  }
}

TEST(SuggestTest, ImprovementIsOverTheBestMeanAtObservedInputs) {
  GaussianEmulator model;
  model.mean = [](const Eigen::RowVectorXd& x) { return x[0]; };
  const Matrix candidates = Matrix::Constant(1, 1, 0.5);
  const SuggestOptions options{.criterion = Criterion::kExpectedImprovement, .costs = {1, 1}};
  const auto improvement = [&](double best) {
    return SuggestOrDie(model, candidates, options, Matrix{{0.9}, {best}}).runs.at(0).value;
  };
  // E max(0, best − f) with f ~ N(0.5, 1).
  const auto expected = [](double gain) {
    return gain * 0.5 * std::erfc(-gain / std::sqrt(2.0)) + std::exp(-gain * gain / 2) / std::sqrt(2 * M_PI);
  };
  EXPECT_NEAR(improvement(0.2), expected(-0.3), 1e-12);
  EXPECT_NEAR(improvement(0.7), expected(0.2), 1e-12);
}

TEST(SuggestTest, OptimisersRunTheFidelityThatTellsMostPerCost) {
  GaussianEmulator model;
  SuggestOptions options{.criterion = Criterion::kConfidenceBound, .costs = {0.1, 1}};
  EXPECT_EQ(SuggestOrDie(model, Grid(9), options).runs.at(0).level, 0);
  options.costs = {0.95, 1};
  EXPECT_EQ(SuggestOrDie(model, Grid(9), options).runs.at(0).level, 1);
}

TEST(SuggestTest, BadArgumentsNameFieldValueAndRule) {
  const GaussianEmulator model;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<SuggestOptions, std::string>> cases = {
      {{.count = 0, .costs = {1, 1}}, "count: 0, want at least 1"},
      {{.budget = 0, .costs = {1, 1}}, "budget: 0, want more than 0"},
      {{.budget = kNan, .costs = {1, 1}}, "budget: nan"},
      {{.costs = {1}}, "costs: 1 values, but the model has 2 levels"},
      {{.costs = {1, 0}}, "costs[1]: 0, want a finite number above 0"},
      {{.costs = {1, 1}, .levels = {0, 2}}, "levels[1]: 2, want 0 to 1"},
      {{.costs = {1, 1}, .width = -1}, "width: -1"},
  };
  for (const auto& [options, message] : cases) {
    EXPECT_TRUE(IsError(Suggest(model, Grid(3), Grid(3), Matrix(0, 1), options).status(),
                        absl::StatusCode::kInvalidArgument, {message}));
  }
  const SuggestOptions good{.costs = {1, 1}};
  EXPECT_TRUE(IsError(Suggest(model, Matrix(0, 1), Grid(3), Matrix(0, 1), good).status(),
                      absl::StatusCode::kInvalidArgument, {"candidates: none"}));
  EXPECT_TRUE(IsError(Suggest(model, Grid(3), Matrix(0, 1), Matrix(0, 1), good).status(),
                      absl::StatusCode::kInvalidArgument, {"targets: none"}));
}

}  // namespace
}  // namespace fidelio
