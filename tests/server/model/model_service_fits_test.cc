// Fits: queueing, progress, cancellation, watches.
#include <string>
#include <vector>

#include "server/status/details.h"
#include "tests/server/model/service_testing.h"
#include "tests/server/store/fault_vfs.h"

namespace fidelio {
namespace {

class FitsTest : public ::testing::Test {
 protected:
  // Options whose fits wait at the gate, at their first iteration and after.
  ModelServiceOptions Gated() {
    ModelServiceOptions options;
    options.hooks.on_iteration = [this](const std::string&, int64_t, const FitProgress&) { gate_.Pass(); };
    return options;
  }

  FitInfo Start(ModelService& service, const std::string& model, const FitSpec& spec = {}) {
    const auto fit = service.StartFit(Request(), model, "", spec);
    EXPECT_TRUE(fit.ok()) << fit.status();
    return fit.value_or(FitInfo());
  }

  TempDirectory directory_;
  Gate gate_;
};

TEST_F(FitsTest, AFitMakesTheRevisionThatIsServed) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  EXPECT_TRUE(IsError(server->AcquireRevision("wing").status(), absl::StatusCode::kFailedPrecondition,
                      {"models/wing", "no revision yet", "start a fit"}));
  const FitInfo fit = RunFit(server.service(), "wing", {.seed = 7});
  EXPECT_EQ(fit.revision, 1);
  EXPECT_EQ(fit.data_version, 1);
  EXPECT_EQ(fit.inference, Inference::kMoments);
  EXPECT_FALSE(fit.inference_reason.empty());
  EXPECT_EQ(fit.progress.fraction, 1);
  EXPECT_GT(fit.progress.iteration, 0);
  EXPECT_GT(fit.progress.elapsed, absl::ZeroDuration());
  EXPECT_TRUE(fit.progress.elbo.has_value());
  ASSERT_TRUE(fit.started && fit.finished);
  EXPECT_GE(*fit.finished, *fit.started);
  EXPECT_EQ(server->GetModel("wing")->current_revision, 1);

  const auto revision = server->GetRevision("wing", 1);
  ASSERT_TRUE(revision.ok()) << revision.status();
  EXPECT_TRUE(revision->current);
  EXPECT_EQ(revision->fit, 1);
  EXPECT_EQ(revision->data_version, 1);
  EXPECT_EQ(revision->observation_counts, (std::vector<int64_t>{8, 4}));
  EXPECT_EQ(revision->options.seed, 7u);
  EXPECT_EQ(revision->elbo, fit.progress.elbo);
  EXPECT_EQ(revision->code_version, server->options().code_version);
  EXPECT_GT(revision->size_bytes, 0);
  EXPECT_EQ(revision->sha256.size(), 32u);
  EXPECT_GT(revision->fit_duration, absl::ZeroDuration());
}

TEST_F(FitsTest, AFitNeedsDataOfTheLowestLevel) {
  Server server(directory_.path());
  ASSERT_TRUE(server->CreateModel(Request(), "wing", SpecOf(1, 2)).ok());
  ASSERT_TRUE(server->AddObservations(Request(), "wing", "", {Batches(kSizes, 1)[1]}).ok());
  const absl::Status status = server->StartFit(Request(), "wing", "", {}).status();
  EXPECT_TRUE(IsError(status, absl::StatusCode::kFailedPrecondition, {"models/wing", "level 0", "AddObservations"}));
  EXPECT_EQ(DetailsOf(status).precondition->type, "NO_DATA");
}

TEST_F(FitsTest, OptionsThatThereAreNotAreRefusedWithThoseThatThereAre) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  const auto refused = [&](const FitSpec& spec) { return server->StartFit(Request(), "wing", "", spec).status(); };
  EXPECT_TRUE(IsError(refused({.inference = Inference::kPointEstimate}), absl::StatusCode::kInvalidArgument,
                      {"options.inference: POINT_ESTIMATE", "AUTO, MOMENTS, VARIATIONAL, SVI"}));
  EXPECT_TRUE(
      IsError(refused({.budget_seconds = 0}), absl::StatusCode::kInvalidArgument, {"options.budget.seconds: 0"}));
  EXPECT_TRUE(IsError(refused({.budget_iterations = -1}), absl::StatusCode::kInvalidArgument,
                      {"options.budget.iterations: -1"}));
  EXPECT_TRUE(IsError(refused({.inference = Inference::kSvi, .method_options = {{"steps", 0}}}),
                      absl::StatusCode::kInvalidArgument, {"options.steps: 0, want 1 to"}));
  EXPECT_TRUE(IsError(refused({.inference = Inference::kVariational, .method_options = {{"batch_size", 10}}}),
                      absl::StatusCode::kInvalidArgument, {"options.batch_size: given", "VARIATIONAL"}));
}

TEST_F(FitsTest, ValidateOnlyStartsNothing) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  const auto fit = server->StartFit(Request(), "wing", "", {.seed = 3}, /*validate_only=*/true);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(fit->id, 0);
  EXPECT_EQ(fit->options.seed, 3u);
  EXPECT_TRUE(server->ListFits("wing", 0, 10)->fits.empty());
  EXPECT_EQ(server->StartFit(Request(), "moth", "", {}, true).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FitsTest, FitsOfOneModelRunOneAfterTheOther) {
  ModelServiceOptions options = Gated();
  options.fit_workers = 2;
  Server server(directory_.path(), options);
  MakeModel(server.service(), "wing");
  MakeModel(server.service(), "tail");
  const FitInfo first = Start(server.service(), "wing"), second = Start(server.service(), "wing");
  const FitInfo other = Start(server.service(), "tail");
  gate_.AwaitArrivals(2);  // the first of each model; the second of "wing" lets the other model pass
  EXPECT_EQ(server->GetFit("wing", first.id)->state, FitState::kRunning);
  EXPECT_EQ(server->GetFit("wing", second.id)->state, FitState::kPending);
  EXPECT_EQ(server->GetFit("wing", second.id)->queue_position, 0);
  EXPECT_EQ(server->GetFit("wing", second.id)->data_version, 0);
  EXPECT_EQ(server->GetFit("tail", other.id)->state, FitState::kRunning);
  gate_.Open();
  EXPECT_EQ(AwaitFit(server.service(), "wing", second.id).revision, 2);
  EXPECT_EQ(server->GetFit("wing", first.id)->revision, 1);
  AwaitFit(server.service(), "tail", other.id);
}

TEST_F(FitsTest, ObservationsThatArriveDuringAFitBelongToTheNext) {
  Server server(directory_.path(), Gated());
  MakeModel(server.service(), "wing");
  Start(server.service(), "wing");
  gate_.AwaitArrivals(1);
  ASSERT_TRUE(server->AddObservations(Request(), "wing", "", Batches({2, 1}, 1, 5)).ok());
  Start(server.service(), "wing");
  ASSERT_TRUE(server->AddObservations(Request(), "wing", "", Batches({3, 0}, 1, 6)).ok());
  gate_.Open();
  EXPECT_EQ(AwaitFit(server.service(), "wing", 1).data_version, 1);
  // The second takes all that is there when it begins to run, not what was there when it was asked for.
  EXPECT_EQ(AwaitFit(server.service(), "wing", 2).data_version, 3);
  EXPECT_EQ(server->GetRevision("wing", 1)->observation_counts, (std::vector<int64_t>{8, 4}));
  EXPECT_EQ(server->GetRevision("wing", 2)->observation_counts, (std::vector<int64_t>{13, 5}));
}

TEST_F(FitsTest, APendingFitIsCancelledAtOnce) {
  Server server(directory_.path(), Gated());
  MakeModel(server.service(), "wing");
  Start(server.service(), "wing");
  Start(server.service(), "wing");
  gate_.AwaitArrivals(1);
  const auto cancelled = server->CancelFit(Request(), "wing", 2);
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state, FitState::kCancelled);
  EXPECT_EQ(AwaitFit(server.service(), "wing", 2).state, FitState::kCancelled);
  gate_.Open();
  EXPECT_EQ(AwaitFit(server.service(), "wing", 1).state, FitState::kSucceeded);
  EXPECT_EQ(server->GetModel("wing")->current_revision, 1);
}

TEST_F(FitsTest, ARunningFitIsCancelledForGoodAndStopsWithinAnIteration) {
  std::atomic<int> after_cancel = -1;
  ModelServiceOptions options;
  options.hooks.on_iteration = [&](const std::string&, int64_t fit, const FitProgress&) {
    gate_.Pass();
    if (fit == 1) ++after_cancel;
  };
  Server server(directory_.path(), options);
  MakeModel(server.service(), "wing");
  Start(server.service(), "wing");
  gate_.AwaitArrivals(1);
  EXPECT_EQ(server->CancelFit(Request(), "wing", 1)->state, FitState::kCancelled);
  EXPECT_EQ(AwaitFit(server.service(), "wing", 1).state, FitState::kCancelled);
  EXPECT_EQ(server->GetFit("wing", 1)->state, FitState::kCancelled);
  gate_.Open();
  // The next fit begins when the work on the first has stopped.
  EXPECT_EQ(RunFit(server.service(), "wing").revision, 1);
  EXPECT_EQ(after_cancel, 0);
  EXPECT_EQ(server->CancelFit(Request(), "wing", 2)->state, FitState::kSucceeded);  // too late, and no error
  EXPECT_TRUE(
      IsError(server->CancelFit(Request(), "wing", 9).status(), absl::StatusCode::kNotFound, {"models/wing/fits/9"}));
}

TEST_F(FitsTest, WatchesBeginWithTheStateOfNowAndEndWithTheLast) {
  Server server(directory_.path(), Gated());
  MakeModel(server.service(), "wing");
  Start(server.service(), "wing");
  gate_.AwaitArrivals(1);
  std::atomic<int> calls = 0;
  auto watch = server->WatchFit("wing", 1, [&] { ++calls; });
  ASSERT_TRUE(watch.ok()) << watch.status();
  EXPECT_EQ(calls, 1);
  const auto first = (*watch)->TryNext();
  ASSERT_TRUE(first.ok() && first->has_value());
  EXPECT_EQ((*first)->fit.state, FitState::kRunning);
  EXPECT_EQ((*first)->fit.progress.iteration, 1);
  EXPECT_FALSE((*(*watch)->TryNext()).has_value());
  EXPECT_FALSE((*(*watch)->Next(absl::Now())).has_value());
  gate_.Open();
  AwaitFit(server.service(), "wing", 1);
  // This one was slow: of all that came since, the end is left.
  const auto last = (*watch)->TryNext();
  ASSERT_TRUE(last.ok() && last->has_value());
  EXPECT_TRUE((*last)->last);
  EXPECT_EQ((*last)->fit.state, FitState::kSucceeded);
  EXPECT_EQ((*watch)->TryNext().status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_GT(calls, 2);
  EXPECT_EQ(server->WatchFit("wing", 2).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FitsTest, ACancelledWatchWakesUp) {
  Server server(directory_.path(), Gated());
  MakeModel(server.service(), "wing");
  Start(server.service(), "wing");
  gate_.AwaitArrivals(1);
  const auto watch = *server->WatchFit("wing", 1);
  ASSERT_TRUE(watch->TryNext().ok());
  std::thread waiter(
      [&] { EXPECT_EQ(watch->Next(absl::InfiniteFuture()).status().code(), absl::StatusCode::kCancelled); });
  watch->Cancel();
  waiter.join();
  gate_.Open();
}

TEST_F(FitsTest, DeletingTheModelCancelsItsFits) {
  Server server(directory_.path(), Gated());
  MakeModel(server.service(), "wing");
  Start(server.service(), "wing");
  Start(server.service(), "wing");
  gate_.AwaitArrivals(1);
  const auto running = *server->WatchFit("wing", 1), pending = *server->WatchFit("wing", 2);
  ASSERT_TRUE(server->DeleteModel(Request(), "wing", "").ok());
  for (const auto& watch : {running, pending}) {
    const auto event = watch->TryNext();
    ASSERT_TRUE(event.ok() && event->has_value());
    EXPECT_EQ((*event)->fit.state, FitState::kCancelled);
    EXPECT_TRUE((*event)->last);
  }
  // A new model of the same name has nothing of the old one, whose fit is still at work.
  MakeModel(server.service(), "wing");
  EXPECT_TRUE(server->ListFits("wing", 0, 10)->fits.empty());
  gate_.Open();
  EXPECT_EQ(RunFit(server.service(), "wing").id, 1);
  EXPECT_EQ(server->GetModel("wing")->current_revision, 1);
  EXPECT_EQ(server->ListRevisions("wing", 0, 10)->revisions.size(), 1u);
}

TEST_F(FitsTest, TheQueueIsBounded) {
  ModelServiceOptions options = Gated();
  options.fit_queue = 2;
  Server server(directory_.path(), options);
  MakeModel(server.service(), "wing");
  Start(server.service(), "wing");
  gate_.AwaitArrivals(1);
  EXPECT_EQ(Start(server.service(), "wing").queue_position, 0);
  EXPECT_EQ(Start(server.service(), "wing").queue_position, 1);
  const absl::Status status = server->StartFit(Request(), "wing", "", {}).status();
  EXPECT_TRUE(IsError(status, absl::StatusCode::kResourceExhausted, {"2 fits are waiting", "2 are allowed"}));
  EXPECT_TRUE(DetailsOf(status).retry_delay.has_value());
  ASSERT_TRUE(server->CancelFit(Request(), "wing", 2).ok());
  EXPECT_EQ(server->GetFit("wing", 3)->queue_position, 0);
  Start(server.service(), "wing");
  gate_.Open();
  AwaitFit(server.service(), "wing", 4);
}

TEST_F(FitsTest, ABudgetOfIterationsEndsAFitWithSuccess) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  const FitInfo fit = RunFit(server.service(), "wing", {.budget_iterations = 30});
  EXPECT_EQ(fit.progress.iteration, 30);
  EXPECT_TRUE(Answers(server.service(), "wing").allFinite());
}

TEST_F(FitsTest, AWarmStartNeedsFewerEvaluations) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  const FitInfo cold = RunFit(server.service(), "wing"), warm = RunFit(server.service(), "wing", {.warm_start = true});
  EXPECT_LT(warm.progress.evaluations, cold.progress.evaluations);
}

TEST_F(FitsTest, ListsShowTheNewestFirstPageByPage) {
  Server server(directory_.path(), Gated());
  MakeModel(server.service(), "wing");
  for (int i = 0; i < 5; ++i) Start(server.service(), "wing");
  gate_.AwaitArrivals(1);
  std::vector<int64_t> ids;
  int64_t before = 0;
  do {
    const auto list = server->ListFits("wing", before, 2);
    ASSERT_TRUE(list.ok()) << list.status();
    for (const FitInfo& fit : list->fits) ids.push_back(fit.id);
    before = list->next;
  } while (before != 0);
  EXPECT_EQ(ids, (std::vector<int64_t>{5, 4, 3, 2, 1}));
  EXPECT_EQ(server->ListFits("wing", 0, 1)->fits[0].state, FitState::kPending);
  EXPECT_EQ(server->ListFits("wing", 2, 1)->fits[0].state, FitState::kRunning);
  gate_.Open();
}

TEST_F(FitsTest, PredictionsGoOnWhileAFitRuns) {
  std::atomic<bool> gated = false;
  ModelServiceOptions options;
  options.hooks.on_iteration = [&](const std::string&, int64_t, const FitProgress&) {
    if (gated) gate_.Pass();
  };
  Server server(directory_.path(), options);
  MakeModel(server.service(), "wing");
  RunFit(server.service(), "wing");
  const Vector before = Answers(server.service(), "wing");
  gated = true;
  Start(server.service(), "wing", {.seed = 9});
  gate_.AwaitArrivals(1);
  EXPECT_EQ(Answers(server.service(), "wing"), before);
  gate_.Open();
  AwaitFit(server.service(), "wing", 2);
  EXPECT_NE(Answers(server.service(), "wing"), before);
  EXPECT_EQ(Answers(server.service(), "wing", 1), before);
}

TEST_F(FitsTest, AGpLearnsFromTheHighestFidelityAlone) {
  Server server(directory_.path());
  ModelSpec spec = SpecOf(1, 2);
  spec.kind = ModelKind::kGp;
  ASSERT_TRUE(server->CreateModel(Request(), "gp", spec).ok());
  ASSERT_TRUE(server->AddObservations(Request(), "gp", "", {Batches(kSizes, 1)[0]}).ok());
  EXPECT_TRUE(
      IsError(server->StartFit(Request(), "gp", "", {}).status(), absl::StatusCode::kFailedPrecondition, {"level 1"}));
  ASSERT_TRUE(server->AddObservations(Request(), "gp", "", {Batches({1, 6}, 1)[1]}).ok());
  RunFit(server.service(), "gp", {.seed = 2});
  EXPECT_EQ(server->GetRevision("gp", 1)->observation_counts, (std::vector<int64_t>{0, 6}));
  const auto loaded = *server->AcquireRevision("gp");
  EXPECT_EQ(loaded->fidelities(), 2);
  EXPECT_EQ(*loaded->EmulatorLevel(std::nullopt, "options.level"), 0);
  EXPECT_EQ(*loaded->EmulatorLevel(1, "options.level"), 0);
  EXPECT_TRUE(IsError(loaded->EmulatorLevel(0, "options.level").status(), absl::StatusCode::kInvalidArgument,
                      {"options.level: 0", "GP", "must be 1"}));
  EXPECT_TRUE(IsError(loaded->EmulatorLevel(2, "options.level").status(), absl::StatusCode::kInvalidArgument,
                      {"options.level: 2", "0 to 1"}));
}

TEST_F(FitsTest, AFitThatCannotBeStoredForLackOfSpaceWaitsForIt) {
  FaultVfs disk;
  Server server(directory_.path(), Gated(), disk.name());
  MakeModel(server.service(), "wing");
  const FitInfo fit = Start(server.service(), "wing");
  gate_.AwaitArrivals(1);
  disk.growths_until_full = 0;
  disk.refusals_until_space = 1;
  gate_.Open();
  const FitInfo ended = AwaitFit(server.service(), "wing", fit.id);
  EXPECT_EQ(ended.state, FitState::kSucceeded) << ended.error;
  EXPECT_EQ(disk.refusals_until_space, 0);
  EXPECT_EQ(server->GetModel("wing")->current_revision, 1);
}

}  // namespace
}  // namespace fidelio
