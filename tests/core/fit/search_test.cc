#include "core/fit/search.h"

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "core/fit/fit_bytes.h"
#include "core/fit/search_modes.h"
#include "gtest/gtest.h"
#include "tests/core/fit/quadratic_target.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

// A structure of all levels and one of the highest alone.
QuadraticTarget WholeAndPart() {
  return QuadraticTarget({{.size = 3, .peak = 0.5}, {.size = 2, .peak = -0.3, .first_level = 1}});
}

absl::StatusOr<SearchResult> Explore(const SearchRequest& request, SharedSearchState& state,
                                     FitObserver* observer = nullptr,
                                     double max_seconds = std::numeric_limits<double>::infinity()) {
  FitBudget budget(FitOptions{.max_seconds = max_seconds});
  budget.Begin(observer);
  return RunSearch(request, budget, state);
}

// Says no after a number of calls.
class StopAfter : public FitObserver {
 public:
  explicit StopAfter(int64_t calls) : calls_(calls) {}
  bool OnProgress(const FitProgress& progress) override { return progress.iteration < calls_; }

 private:
  const int64_t calls_;
};

void ExpectSameDraws(const SearchResult& a, const SearchResult& b) {
  ASSERT_EQ(a.draws.size(), b.draws.size());
  for (size_t i = 0; i < a.draws.size(); ++i) {
    EXPECT_EQ(a.draws[i].structure, b.draws[i].structure);
    EXPECT_EQ(a.draws[i].weight, b.draws[i].weight);
    EXPECT_EQ(a.draws[i].theta, b.draws[i].theta);
  }
}

TEST(SearchTest, DrawsHaveTheMomentsOfThePosterior) {
  const QuadraticTarget target({{.size = 4, .peak = 2, .precision = 8}});
  SearchRequest request{.target = target, .settings = {.chains = 8, .warmup = 100, .transitions = 800, .draws = 6400}};
  SharedSearchState state;
  const auto result = Explore(request, state);
  ASSERT_TRUE(result.ok()) << result.status();
  const double mean = 1 + 2 * target.Mean(0), variance = 4 * target.Variance(0);  // of θ
  EXPECT_NEAR(result->best.theta[0], mean, 1e-4);
  Vector sum = Vector::Zero(4), squares = Vector::Zero(4);
  double weight = 0;
  for (const SearchDraw& draw : result->draws) {
    weight += draw.weight;
    sum += draw.weight * draw.theta;
    squares += draw.weight * (draw.theta.array() - mean).square().matrix();
  }
  EXPECT_NEAR(weight, 1, 1e-12);
  EXPECT_NEAR(sum.mean(), mean, 0.03);
  EXPECT_NEAR(squares.mean() / variance, 1, 0.1);
}

TEST(SearchTest, StructuresShareTheRootOfTheirEvidence) {
  const QuadraticTarget target({{.log_peak = 0}, {.log_peak = -1}});
  SharedSearchState state;
  const auto result = Explore({.target = target, .settings = {}}, state);
  ASSERT_TRUE(result.ok()) << result.status();
  double weights[2] = {0, 0};
  for (const SearchDraw& draw : result->draws) weights[draw.structure] += draw.weight;
  EXPECT_NEAR(weights[1] / weights[0], std::exp(-0.5), 1e-6);
}

TEST(SearchTest, EveryLevelKeepsADrawWhenTheBudgetEndsBeforeItsChainsHaveSome) {
  const QuadraticTarget target = WholeAndPart();
  const SearchRequest request{.target = target, .settings = {}};
  SharedSearchState state;
  ASSERT_TRUE(Explore(request, state).ok());
  SearchState ended = state.Copy();  // as if time had run out for the chains of the first structure
  for (SearchMode& mode : ended.modes) mode.weight = 1;
  for (SearchChain& chain : ended.chains) {
    if (ended.modes[chain.mode].structure == 0) chain.trace.clear();
  }
  SharedSearchState cut(ended);
  const auto result = Explore(request, cut);
  ASSERT_TRUE(result.ok()) << result.status();
  double whole = 0, part = 0;
  for (const SearchDraw& draw : result->draws) (draw.structure == 0 ? whole : part) += draw.weight;
  EXPECT_GT(whole, 0);
  EXPECT_GT(part, 0);
  EXPECT_NEAR(whole + part, 1, 1e-12);
}

TEST(SearchTest, ReportsChainsRHatAndEffectiveSize) {
  const QuadraticTarget target = WholeAndPart();
  SharedSearchState state;
  const auto result = Explore({.target = target, .settings = {}}, state);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GE(result->report.chains, 4);
  EXPECT_EQ(result->transitions, 64 * result->report.chains);
  EXPECT_GT(result->report.r_hat, 0.9);
  EXPECT_GT(result->report.effective_size, 1);
  EXPECT_EQ(result->report.failed_curvature, 0);
}

// The mode lies so near to where the posterior can't be evaluated any more that differences reach beyond.
TEST(SearchTest, FailedColumnsOfHessiansAreReported) {
  QuadraticStructure edge{.size = 3};
  edge.wall = QuadraticTarget({edge}).Mean(0) + 1e-4;
  const QuadraticTarget target({edge});
  SharedSearchState state;
  const auto result = Explore({.target = target, .settings = {}}, state);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->report.failed_curvature, 3);
  EXPECT_EQ(state.Copy().modes[0].failed_columns, 3);
}

TEST(SearchTest, AStructureOfAllLevelsIsNeeded) {
  const QuadraticTarget target({QuadraticStructure{.first_level = 1}});
  SharedSearchState state;
  EXPECT_TRUE(IsError(Explore({.target = target, .settings = {}}, state).status(), absl::StatusCode::kInternal,
                      {"all levels"}));
}

TEST(SearchTest, AnErrorSaysWhyNoStartCanBeEvaluated) {
  const QuadraticTarget target({QuadraticStructure{.wall = -1}});
  SharedSearchState state;
  EXPECT_TRUE(IsError(Explore({.target = target, .settings = {}}, state).status(), absl::StatusCode::kInternal,
                      {"none of 1 starts", "behind the wall"}));
}

TEST(SearchTest, WithoutTimeAStartMustDo) {
  const QuadraticTarget target = WholeAndPart();
  SharedSearchState state;
  const auto result = Explore({.target = target, .settings = {}}, state, nullptr, 1e-9);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->draws.size(), 1u);
  EXPECT_EQ(result->draws[0].structure, 0);
  EXPECT_LT(result->report.evaluations, 10);
}

TEST(SearchTest, OfManyStartsTheBestAreFollowed) {
  QuadraticStructure many{.size = 2, .precision = 1e6};
  for (int i = 1; i < 20; ++i) many.starts.push_back(Vector::Constant(2, i));
  const QuadraticTarget target({many});
  SharedSearchState state;
  ASSERT_TRUE(Explore({.target = target, .settings = {.followed_starts = 5}}, state).ok());
  EXPECT_TRUE(state.Copy().screened);
  int finished = 0;
  for (const SearchStart& start : state.Copy().starts) {
    EXPECT_TRUE(start.done);
    EXPECT_GE(start.rounds, 1);
    finished += start.rounds > 1;
  }
  EXPECT_LE(finished, 5);
}

TEST(SearchTest, BesidesAWarmStartOnlyThePriorsCentresAreTried) {
  QuadraticStructure cold;
  cold.starts = {Vector::Constant(2, 1), Vector::Constant(2, -1)};
  const QuadraticTarget target({cold, cold});
  SearchRequest request{.target = target, .settings = {.chains = 0}};
  request.extra_starts = {{.structure = 1, .z = Vector::Constant(2, 0.3)}};
  SharedSearchState state;
  ASSERT_TRUE(Explore(request, state).ok());
  EXPECT_EQ(state.Copy().starts.size(), 3u);
  request.only_extra_starts = true;
  SharedSearchState alone;
  ASSERT_TRUE(Explore(request, alone).ok());
  EXPECT_EQ(alone.Copy().starts.size(), 1u);
}

// In the search for modes, before the curvature, and in sampling.
class SearchBudgetTest : public ::testing::TestWithParam<int64_t> {};

TEST_P(SearchBudgetTest, EndsTheSearchWithTheSameResultWhateverTheThreads) {
  const QuadraticTarget target = WholeAndPart();
  std::optional<SearchResult> first;
  for (const int threads : {1, 2, 5}) {
    SharedSearchState state;
    const auto result =
        Explore({.target = target, .settings = {}, .seed = 3, .threads = threads, .max_iterations = GetParam()}, state);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_LE(IterationsOf(state.Copy()), std::max<int64_t>(2, GetParam()));
    if (first) ExpectSameDraws(*first, *result);
    if (!first) first = *result;
  }
}

TEST_P(SearchBudgetTest, ASavedSearchContinuesToTheSameResult) {
  const QuadraticTarget target = WholeAndPart();
  const SearchRequest request{.target = target, .settings = {}, .seed = 3, .threads = 2, .max_iterations = GetParam()};
  SharedSearchState whole;
  const auto uninterrupted = Explore(request, whole);
  ASSERT_TRUE(uninterrupted.ok()) << uninterrupted.status();
  for (const int64_t calls : {1, 7, 20, 60, 200}) {
    SharedSearchState state;
    StopAfter stop(calls);
    if (Explore(request, state, &stop).ok()) continue;  // the budget was spent before
    ByteWriter out;
    out(state.Copy());
    const std::string bytes = out.Seal(1, 1);
    auto opened = ByteReader::Open(bytes, 1, 1, "a search");
    ASSERT_TRUE(opened.ok()) << opened.status();
    const SearchState read = opened->reader.Read<SearchState>();
    ASSERT_TRUE(opened->reader.Finish().ok());
    EXPECT_TRUE(CheckSearch(read, {}, target).ok());
    SharedSearchState again(read);
    const auto result = Explore(request, again);
    ASSERT_TRUE(result.ok()) << result.status();
    ExpectSameDraws(*uninterrupted, *result);
  }
}

INSTANTIATE_TEST_SUITE_P(Iterations, SearchBudgetTest,
                         ::testing::Values(1, 8, 40, 200, std::numeric_limits<int64_t>::max()));

TEST(CheckSearchTest, StatesOfOtherTargetsAreRefused) {
  const QuadraticTarget target = WholeAndPart();
  SharedSearchState state;
  ASSERT_TRUE(Explore({.target = target, .settings = {}}, state).ok());
  const SearchState good = state.Copy();
  EXPECT_TRUE(CheckSearch(good, {}, target).ok());
  EXPECT_FALSE(CheckSearch(good, {}, QuadraticTarget({QuadraticStructure{.size = 3}})).ok());
  EXPECT_FALSE(CheckSearch(good, {{.structure = 7, .z = Vector::Zero(2)}}, target).ok());
  SearchState bad = good;
  bad.chains[0].trace[0].resize(9);
  EXPECT_FALSE(CheckSearch(bad, {}, target).ok());
  bad = good;
  bad.modes[0].hessian.resize(0, 0);
  EXPECT_FALSE(CheckSearch(bad, {}, target).ok());
}

}  // namespace
}  // namespace fidelio
