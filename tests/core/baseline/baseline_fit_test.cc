#include "core/baseline/baseline_fit.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/baseline/baseline_posterior.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

// Says no after a number of calls, and keeps the state saved there.
class StopAfter : public FitObserver {
 public:
  StopAfter(const BaselineFit* fit, int64_t calls) : fit_(fit), calls_(calls) {}
  bool OnProgress(const FitProgress& progress) override {
    EXPECT_GE(progress.fraction, last_.fraction);
    EXPECT_GT(progress.iteration, last_.iteration);
    EXPECT_LE(progress.fraction, 1);
    phases_.insert(progress.phase);
    last_ = progress;
    if (progress.iteration < calls_) return true;
    if (fit_ != nullptr) saved_ = fit_->SaveState();
    return false;
  }
  const FitProgress& last() const { return last_; }
  const std::string& saved() const { return saved_; }
  const std::set<std::string>& phases() const { return phases_; }

 private:
  const BaselineFit* fit_;
  const int64_t calls_;
  FitProgress last_;
  std::string saved_;
  std::set<std::string> phases_;
};

class BaselineFitTest : public ::testing::TestWithParam<BaselineMethod> {
 protected:
  std::unique_ptr<BaselineFit> Create(const Dataset& data, const FitOptions& options = {}) {
    auto fit = BaselineFit::Create(GetParam(), data, options);
    EXPECT_TRUE(fit.ok()) << fit.status();
    return *std::move(fit);
  }
};

Vector Means(const Emulator& model) { return model.Predict(SmallQueries(10, model.input_dimension()), {})->mean; }

TEST_P(BaselineFitTest, SameSeedSameBitsWhateverTheThreads) {
  const Dataset data = SmallData({10, 5}, 1);
  const auto one = Create(data, {.seed = 3, .threads = 1})->Run();
  const auto three = Create(data, {.seed = 3, .threads = 3})->Run();
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(Means(**one), Means(**three));
}

TEST_P(BaselineFitTest, InterruptedFitContinuesToTheSameModel) {
  const Dataset data = SmallData({9, 5}, 1);
  auto whole = Create(data, {.kernel = std::nullopt, .seed = 5});
  StopAfter watch(nullptr, int64_t{1} << 40);
  const auto model = whole->Run(&watch);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(watch.phases(), (std::set<std::string>{"optimise", "curvature", "sample"}));
  EXPECT_GT((*model)->report().draws, 1);
  EXPECT_GT((*model)->report().acceptance, 0.4);
  for (const double part : {0.0, 0.3, 0.6, 0.8, 0.95}) {
    auto fit = Create(data, {.kernel = std::nullopt, .seed = 5, .threads = 2});
    StopAfter stop(fit.get(), 1 + static_cast<int64_t>(part * static_cast<double>(watch.last().iteration)));
    EXPECT_EQ(fit->Run(&stop).status().code(), absl::StatusCode::kCancelled);
    const auto resumed = BaselineFit::Resume(GetParam(), stop.saved(), 1);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    const auto continued = (*resumed)->Run();
    ASSERT_TRUE(continued.ok()) << continued.status();
    EXPECT_EQ(Means(**continued), Means(**model)) << part;
  }
}

TEST_P(BaselineFitTest, CancelledFitStopsAtOnceAndMayRunOn) {
  const Dataset data = SmallData({8, 4}, 1);
  auto fit = Create(data, {.threads = 1});
  StopAfter stop(nullptr, 30);
  EXPECT_EQ(fit->Run(&stop).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(stop.last().iteration, 30);
  const auto model = fit->Run();
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(Means(**model), Means(**Create(data)->Run()));
}

TEST_P(BaselineFitTest, BudgetsEndTheFitWithTheBestSoFar) {
  const Dataset data = SmallData({20, 10, 6}, 2);
  const auto in_no_time = Create(data, {.threads = 1, .max_seconds = 1e-9})->Run();
  ASSERT_TRUE(in_no_time.ok()) << in_no_time.status();
  EXPECT_LT((*in_no_time)->report().evaluations, 20);
  EXPECT_TRUE(Means(**in_no_time).allFinite());
  for (const int64_t budget : {2, 40}) {
    StopAfter watch(nullptr, 1 << 30);
    const auto model = Create(data, {.threads = 1, .max_iterations = budget})->Run(&watch);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_LE(watch.last().iteration, std::max<int64_t>(budget, 20)) << "every start gets one";
    EXPECT_TRUE(Means(**model).allFinite());
  }
}

TEST_P(BaselineFitTest, ABudgetOfIterationsGivesTheSameBitsWhateverTheThreads) {
  const Dataset data = SmallData({10, 6}, 1);
  for (const int64_t budget : {60, 200, 400}) {
    const auto one = Create(data, {.threads = 1, .max_iterations = budget})->Run();
    const auto three = Create(data, {.threads = 3, .max_iterations = budget})->Run();
    ASSERT_TRUE(one.ok() && three.ok());
    EXPECT_EQ(Means(**one), Means(**three)) << budget;
    EXPECT_EQ((*one)->report().evaluations, (*three)->report().evaluations);
  }
}

TEST_P(BaselineFitTest, APointEstimateIsTheBestModeAlone) {
  const Dataset data = SmallData({10, 5}, 1);
  StopAfter watch(nullptr, int64_t{1} << 40);
  const auto point = Create(data, {.point_estimate = true})->Run(&watch);
  const auto whole = Create(data)->Run();
  ASSERT_TRUE(point.ok() && whole.ok());
  EXPECT_EQ(watch.phases(), (std::set<std::string>{"optimise"}));
  EXPECT_EQ((*point)->report().draws, 1);
  if (GetParam() == BaselineMethod::kAr1 ||
      GetParam() == BaselineMethod::kDeepMf) {  // others' upper levels see other means
    EXPECT_EQ((*point)->report().log_posterior, (*whole)->report().log_posterior);
  }
}

TEST_P(BaselineFitTest, WarmStartNeedsFewerEvaluations) {
  const Dataset data = SmallData({12, 6}, 2);
  const auto cold = Create(data)->Run();
  ASSERT_TRUE(cold.ok());
  const auto warm = Create(data, {.warm_start = cold->get()})->Run();
  ASSERT_TRUE(warm.ok()) << warm.status();
  EXPECT_LT((*warm)->report().evaluations, (*cold)->report().evaluations);
  EXPECT_GE((*warm)->report().log_posterior, (*cold)->report().log_posterior - 0.1);
  EXPECT_TRUE(IsError(BaselineFit::Create(GetParam(), SmallData({12}, 2), {.warm_start = cold->get()}).status(),
                      absl::StatusCode::kInvalidArgument, {"warm_start: a model of 2 levels"}));
}

TEST_P(BaselineFitTest, BadOptionsAndStatesAreErrors) {
  const Dataset data = SmallData({8, 4}, 1);
  EXPECT_TRUE(IsError(BaselineFit::Create(GetParam(), data, {.max_seconds = 0}).status(),
                      absl::StatusCode::kInvalidArgument, {"max_seconds: 0"}));
  const std::string bytes = Create(data)->SaveState();
  for (size_t at = 0; at < bytes.size(); at += 13) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    EXPECT_FALSE(BaselineFit::Resume(GetParam(), flipped).ok()) << at;
  }
}

TEST_P(BaselineFitTest, MemoryGrowsWithTheSquareOfTheObservations) {
  const double large = BaselineFit::MemoryBytes(GetParam(), {3000, 1500}, 2);
  EXPECT_NEAR(BaselineFit::MemoryBytes(GetParam(), {30000, 15000}, 2) / large, 100, 1);
  EXPECT_GT(BaselineFit::MemoryBytes(GetParam(), {3000, 1500}, 4), large);
  // Less data has more draws.
  const double small = BaselineFit::MemoryBytes(GetParam(), {30, 15}, 2);
  EXPECT_GT(small, large / 10000);
  EXPECT_LT(small, large / 1000);
}

INSTANTIATE_TEST_SUITE_P(Methods, BaselineFitTest, ::testing::ValuesIn(kAllBaselineMethods),
                         [](const auto& test) { return std::string(NameOf(test.param)); });

}  // namespace
}  // namespace fidelio
