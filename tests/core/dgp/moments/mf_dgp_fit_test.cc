#include "core/dgp/moments/mf_dgp_fit.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

bool Has(absl::string_view text, absl::string_view part) { return absl::StrContains(text, part); }

// Says no after a number of calls and a fraction of the work, and keeps the state saved there.
class StopAfter : public FitObserver {
 public:
  StopAfter(const MfDgpFit* fit, int64_t calls, double fraction) : fit_(fit), calls_(calls), fraction_(fraction) {}
  bool OnProgress(const FitProgress& progress) override {
    EXPECT_GE(progress.fraction, last_.fraction);
    EXPECT_GT(progress.iteration, last_.iteration);
    EXPECT_LE(progress.fraction, 1);
    last_ = progress;
    if (progress.iteration < calls_ || progress.fraction < fraction_) return true;
    if (fit_ != nullptr) saved_ = fit_->SaveState();
    return false;
  }
  const FitProgress& last() const { return last_; }
  const std::string& saved() const { return saved_; }

 private:
  const MfDgpFit* fit_;
  const int64_t calls_;
  const double fraction_;
  FitProgress last_;
  std::string saved_;
};

Vector Means(const Emulator& model) { return model.Predict(SmallQueries(10, model.input_dimension()), {})->mean; }

class InterruptedFitTest : public ::testing::TestWithParam<double> {};

TEST_P(InterruptedFitTest, ContinuesToTheSameModel) {
  const Dataset data = SmallData({9, 5}, 1);
  const auto whole = FitMfDgp(data, {.seed = 5});
  ASSERT_TRUE(whole.ok());
  auto fit = MfDgpFit::Create(data, {.seed = 5, .threads = 2});
  ASSERT_TRUE(fit.ok());
  StopAfter stop(fit->get(), 1, GetParam());
  EXPECT_EQ((*fit)->Run(&stop).status().code(), absl::StatusCode::kCancelled);
  const auto resumed = MfDgpFit::Resume(stop.saved(), 1);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  const auto model = (*resumed)->Run();
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(Means(**model), Means(**whole));
}

// In the search for modes, in the curvature, early and late in sampling.
INSTANTIATE_TEST_SUITE_P(Moments, InterruptedFitTest, ::testing::Values(0, 0.2, 0.32, 0.5, 0.9));

TEST(MfDgpFitTest, CancelledFitMayRunOn) {
  auto fit = MfDgpFit::Create(SmallData({8, 4}, 1), {.seed = 1});
  ASSERT_TRUE(fit.ok());
  StopAfter stop(nullptr, 50, 0);
  EXPECT_EQ((*fit)->Run(&stop).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(stop.last().iteration, 50);  // it stopped at once
  const auto model = (*fit)->Run();
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(Means(**model), Means(**FitMfDgp(SmallData({8, 4}, 1), {.seed = 1})));
}

TEST(MfDgpFitTest, ObserverSeesAllPhases) {
  class Phases : public FitObserver {
   public:
    bool OnProgress(const FitProgress& progress) override {
      if (seen.empty() || seen.back() != progress.phase) seen.push_back(progress.phase);
      return true;
    }
    std::vector<std::string> seen;
  } phases;
  ASSERT_TRUE(FitMfDgp(SmallData({8, 4}, 1), {}, &phases).ok());
  EXPECT_EQ(phases.seen, (std::vector<std::string>{"optimise", "curvature", "sample"}));
}

TEST(MfDgpFitTest, TellsTheObjectiveFromTheFirstIterationToTheLast) {
  struct Values : FitObserver {
    bool OnProgress(const FitProgress& progress) override {
      EXPECT_EQ(progress.iteration, ++iterations);
      EXPECT_TRUE(std::isfinite(progress.log_posterior)) << progress.phase << " " << progress.iteration;
      return true;
    }
    int64_t iterations = 0;
  } values;
  ASSERT_TRUE(FitMfDgp(SmallData({8, 4}, 1), {.threads = 2, .max_iterations = 300}, &values).ok());
  EXPECT_GT(values.iterations, 100);
}

TEST(MfDgpFitTest, EndedBudgetGivesTheBestSoFar) {
  const auto model = FitMfDgp(SmallData({30, 10}, 2), {.threads = 1, .max_seconds = 1e-9});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->report().draws, 1);
  EXPECT_LT((*model)->report().evaluations, 20);
  EXPECT_TRUE((*model)->Predict(SmallQueries(5, 2), {})->mean.allFinite());
}

// In the search for modes, before the curvature, and in sampling.
class IterationBudgetTest : public ::testing::TestWithParam<int64_t> {};

TEST_P(IterationBudgetTest, EndsTheFitWithTheBestSoFarWhateverTheNumberOfThreads) {
  const Dataset data = SmallData({10, 5}, 1);
  StopAfter watch(nullptr, 1 << 30, 0);
  const auto one = FitMfDgp(data, {.threads = 1, .max_iterations = GetParam()}, &watch);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_LE(watch.last().iteration, GetParam());
  for (const int threads : {2, 3, 5}) {
    const auto several = FitMfDgp(data, {.threads = threads, .max_iterations = GetParam()});
    ASSERT_TRUE(several.ok()) << several.status();
    EXPECT_EQ(Means(**several), Means(**one));
    EXPECT_EQ((*several)->report().evaluations, (*one)->report().evaluations);
    EXPECT_EQ((*several)->report().draws, (*one)->report().draws);
  }
}

TEST_P(IterationBudgetTest, GivesTheSameModelAfterAnInterruption) {
  const Dataset data = SmallData({10, 5}, 1);
  const auto whole = FitMfDgp(data, {.max_iterations = GetParam()});
  ASSERT_TRUE(whole.ok()) << whole.status();
  for (const int64_t calls : {30, 140, 500}) {
    auto fit = MfDgpFit::Create(data, {.threads = 2, .max_iterations = GetParam()});
    ASSERT_TRUE(fit.ok());
    StopAfter stop(fit->get(), calls, 0);
    if ((*fit)->Run(&stop).ok()) continue;  // the budget was spent before
    const auto resumed = MfDgpFit::Resume(stop.saved(), 1);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    const auto model = (*resumed)->Run();
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(Means(**model), Means(**whole));
  }
}

INSTANTIATE_TEST_SUITE_P(Moments, IterationBudgetTest, ::testing::Values(40, 300, 700, 1000, 1500));

TEST(MfDgpFitTest, TheSmallestBudgetStillGivesAModel) {
  StopAfter watch(nullptr, 1 << 30, 0);
  const auto model = FitMfDgp(SmallData({10, 5}, 1), {.max_iterations = 1}, &watch);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_LT(watch.last().iteration, 40);  // one for each point to start from
  EXPECT_TRUE((*model)->Predict(SmallQueries(5, 1), {})->mean.allFinite());
}

TEST(MfDgpFitTest, WarmStartNeedsFewerEvaluations) {
  const Dataset data = SmallData({12, 6}, 2);
  const auto cold = FitMfDgp(data, {});
  ASSERT_TRUE(cold.ok());
  const auto warm = FitMfDgp(data, {.warm_start = cold->get()});
  ASSERT_TRUE(warm.ok()) << warm.status();
  EXPECT_LT((*warm)->report().evaluations, (*cold)->report().evaluations);
  EXPECT_GE((*warm)->report().log_posterior, (*cold)->report().log_posterior - 1);
  const auto other = FitMfDgp(SmallData({12}, 2), {.warm_start = cold->get()});
  EXPECT_PRED2(Has, other.status().message(), "warm_start: a model of 2 levels");
}

TEST(MfDgpFitTest, BadOptionsAndStatesAreErrors) {
  const Dataset data = SmallData({8, 4}, 1);
  EXPECT_PRED2(Has, FitMfDgp(data, {.max_seconds = 0}).status().message(), "max_seconds: 0");
  EXPECT_PRED2(Has, FitMfDgp(data, {.max_iterations = 0}).status().message(), "max_iterations: 0");
  EXPECT_PRED2(Has, FitMfDgp(data, {.threads = -1}).status().message(), "threads: -1");
  const std::string bytes = (*MfDgpFit::Create(data, {}))->SaveState();
  for (size_t at = 0; at < bytes.size(); at += 13) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    EXPECT_FALSE(MfDgpFit::Resume(flipped).ok()) << at;
  }
  EXPECT_PRED2(Has, MfDgpFit::Resume((*FitMfDgp(data, {}))->Save()).status().message(),
               "checkpoint is of kind 1, want kind 2");
}

}  // namespace
}  // namespace fidelio
