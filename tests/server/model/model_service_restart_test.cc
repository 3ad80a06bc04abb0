// Restarts: fits go on where they were, predictions stay the same, nothing gets stuck.
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "server/model/codec.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class RestartTest : public ::testing::Test {
 protected:
  // What a fit of this seed predicts when nothing interrupts it.
  Vector Uninterrupted(uint64_t seed) {
    const TempDirectory directory;
    Server server(directory.path());
    MakeModel(server.service(), "wing");
    RunFit(server.service(), "wing", {.seed = seed});
    return Answers(server.service(), "wing");
  }

  TempDirectory directory_;
};

TEST_F(RestartTest, PredictionsAreTheSameBitForBitWithoutAFit) {
  Vector before;
  {
    Server server(directory_.path());
    MakeModel(server.service(), "wing");
    RunFit(server.service(), "wing", {.kernel_family = std::nullopt, .seed = 4});
    before = Answers(server.service(), "wing");
  }
  Server server(directory_.path());
  EXPECT_EQ(Answers(server.service(), "wing"), before);
  EXPECT_EQ(server->GetFit("wing", 1)->state, FitState::kSucceeded);
  EXPECT_EQ(server->GetFit("wing", 1)->options.kernel_family, std::nullopt);
}

TEST_F(RestartTest, TheHistoryOfAFitStays) {
  std::vector<FitPoint> before;
  {
    Server server(directory_.path());
    MakeModel(server.service(), "wing");
    RunFit(server.service(), "wing", {.seed = 4});
    before = server->GetFit("wing", 1)->history;
  }
  ASSERT_GT(before.size(), 1u);
  Server server(directory_.path());
  const std::vector<FitPoint> after = server->GetFit("wing", 1)->history;
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].phase, before[i].phase);
    EXPECT_EQ(after[i].iteration, before[i].iteration);
    EXPECT_EQ(after[i].elbo, before[i].elbo);
  }
}

// Copies the store as a crash would leave it, at the n-th checkpoint of a fit that saves its state at every iteration.
class CrashTest : public RestartTest, public ::testing::WithParamInterface<int> {};

TEST_P(CrashTest, ARunningFitGoesOnByItselfToTheSameBits) {
  const std::string copy = directory_ / "copy";
  std::filesystem::create_directory(copy);
  std::atomic<int> checkpoints = 0;
  Store* store = nullptr;
  ModelServiceOptions options;
  options.checkpoint_interval = absl::ZeroDuration();
  options.hooks.on_checkpoint = [&](const std::string&, int64_t) {
    if (++checkpoints != GetParam()) return;
    const absl::Status status = store->Backup(copy + "/fidelio.db");
    EXPECT_TRUE(status.ok()) << status;
  };
  Vector whole;
  {
    Server server(directory_ / "original", options);
    store = &server.store();
    MakeModel(server.service(), "wing");
    RunFit(server.service(), "wing", {.seed = 5});
    whole = Answers(server.service(), "wing");
    ASSERT_GT(checkpoints, GetParam());
  }
  Server restarted(copy);
  const FitInfo fit = AwaitFit(restarted.service(), "wing", 1);
  EXPECT_EQ(fit.state, FitState::kSucceeded) << fit.error;
  EXPECT_EQ(fit.resume_count, 1);
  EXPECT_EQ(fit.data_version, 1);
  ASSERT_FALSE(fit.history.empty());
  EXPECT_EQ(fit.history.front().iteration, 1);  // from before the crash
  EXPECT_EQ(fit.history.back().iteration, fit.progress.iteration);
  EXPECT_EQ(Answers(restarted.service(), "wing"), whole);
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, CrashTest, ::testing::Values(1, 60, 500));

TEST_F(RestartTest, DrainingSavesTheRunningFitAndTheNextStartContinuesIt) {
  const Vector whole = Uninterrupted(6);
  Gate gate;
  std::atomic<int64_t> reached = 0;
  ModelServiceOptions options;
  options.hooks.on_iteration = [&](const std::string&, int64_t, const FitProgress& progress) {
    if (progress.iteration == 100) gate.Pass();
    reached = progress.iteration;
  };
  {
    Server server(directory_.path(), options);
    MakeModel(server.service(), "wing");
    ASSERT_TRUE(server->StartFit(Request(), "wing", "", {.seed = 6}).ok());
    ASSERT_TRUE(server->StartFit(Request(), "wing", "", {.seed = 7}).ok());
    gate.AwaitArrivals(1);
    const auto watch = *server->WatchFit("wing", 1);
    // The worker can't stop at the gate: the deadline passes, and mutations are refused already.
    EXPECT_EQ(server->Drain(absl::Now()).code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_TRUE(IsError(server->AddObservations(Request(), "wing", "", Batches({1, 0}, 1)).status(),
                        absl::StatusCode::kUnavailable, {"shutting down"}));
    ASSERT_TRUE(watch->TryNext().ok());
    EXPECT_EQ(watch->TryNext().status().code(), absl::StatusCode::kUnavailable);
    gate.Open();
    EXPECT_TRUE(server->Drain(absl::InfiniteFuture()).ok());
    EXPECT_EQ(reached, 100);  // it stopped at once
    EXPECT_EQ(server->GetFit("wing", 1)->state, FitState::kRunning);
    EXPECT_EQ(server->GetFit("wing", 2)->state, FitState::kPending);
    EXPECT_TRUE(server.store().GetFit("wing", 1)->has_saved_state);
  }
  Server server(directory_.path());
  EXPECT_EQ(AwaitFit(server.service(), "wing", 1).resume_count, 1);
  EXPECT_EQ(AwaitFit(server.service(), "wing", 2).resume_count, 0);
  EXPECT_EQ(Answers(server.service(), "wing", 1), whole);
  EXPECT_EQ(server->GetModel("wing")->current_revision, 2);
}

TEST_F(RestartTest, AFitThatNeverSavedItsStateStartsAgainFromItsOwnData) {
  const Vector whole = Uninterrupted(8);
  {
    // As a crash right after the begin of the fit leaves it.
    Server server(directory_.path());
    MakeModel(server.service(), "wing");
    server->Drain(absl::InfiniteFuture()).IgnoreError();
    ASSERT_TRUE(server.store()
                    .Write([](StoreTransaction& transaction) -> absl::Status {
                      const std::string options = Encode(StoredFit{.spec = {.seed = 8}});
                      if (const auto fit = transaction.CreateFit("wing", options); !fit.ok()) return fit.status();
                      return transaction.UpdateFit("wing", 1, {.state = FitState::kRunning}).status();
                    })
                    .ok());
    // Observations that arrived while it ran are not its own.
    const ObservationBlock late{.level = 0, .rows = 1, .cols = 1, .x = {0.5}, .y = {9.0}};
    ASSERT_TRUE(server.store()
                    .Write([&](StoreTransaction& transaction) {
                      return transaction.AppendObservations("wing", {late}).status();
                    })
                    .ok());
  }
  Server server(directory_.path());
  EXPECT_EQ(AwaitFit(server.service(), "wing", 1).state, FitState::kSucceeded);
  EXPECT_EQ(server->GetRevision("wing", 1)->data_version, 1);
  EXPECT_EQ(Answers(server.service(), "wing"), whole);
}

TEST_F(RestartTest, AStateThatCannotBeUsedMeansStartingAgain) {
  const Vector whole = Uninterrupted(9);
  const auto unusable = {std::string("not a state"), ByteWriter().Seal(2, 99), std::string()};
  int64_t n = 0;
  for (const std::string& state : unusable) {
    const std::string directory = directory_ / std::to_string(++n);
    {
      Server server(directory);
      MakeModel(server.service(), "wing");
      server->Drain(absl::InfiniteFuture()).IgnoreError();
      ASSERT_TRUE(
          server.store()
              .Write([&](StoreTransaction& transaction) -> absl::Status {
                const std::string options = Encode(StoredFit{.spec = {.seed = 9}});
                if (const auto fit = transaction.CreateFit("wing", options); !fit.ok()) return fit.status();
                return transaction.UpdateFit("wing", 1, {.state = FitState::kRunning, .saved_state = state}).status();
              })
              .ok());
    }
    Server server(directory);
    EXPECT_EQ(AwaitFit(server.service(), "wing", 1).state, FitState::kSucceeded);
    EXPECT_EQ(Answers(server.service(), "wing"), whole);
  }
}

TEST_F(RestartTest, AFitThatBringsTheServerDownAgainAndAgainIsAborted) {
  {
    Server server(directory_.path());
    MakeModel(server.service(), "wing");
    server->Drain(absl::InfiniteFuture()).IgnoreError();
    ASSERT_TRUE(
        server.store()
            .Write([&](StoreTransaction& transaction) -> absl::Status {
              if (const auto fit = transaction.CreateFit("wing", Encode(StoredFit())); !fit.ok()) {
                return fit.status();
              }
              const std::string progress = Encode(StoredProgress{.resume_count = 100, .idle_resumes = 100});
              return transaction.UpdateFit("wing", 1, {.state = FitState::kRunning, .progress = progress}).status();
            })
            .ok());
  }
  Server server(directory_.path());
  const FitInfo fit = AwaitFit(server.service(), "wing", 1);
  EXPECT_EQ(fit.state, FitState::kFailed);
  EXPECT_TRUE(IsError(fit.error, absl::StatusCode::kAborted, {"100 times in a row"}));
  EXPECT_TRUE(IsError(server->GetFit("wing", 1)->error, absl::StatusCode::kAborted, {"100 times in a row"}));
}

TEST_F(RestartTest, ACancelledFitStaysCancelled) {
  Gate gate;
  ModelServiceOptions options;
  options.hooks.on_iteration = [&](const std::string&, int64_t, const FitProgress&) { gate.Pass(); };
  const std::string copy = directory_ / "copy";
  std::filesystem::create_directory(copy);
  {
    Server server(directory_ / "original", options);
    MakeModel(server.service(), "wing");
    ASSERT_TRUE(server->StartFit(Request(), "wing", "", {}).ok());
    gate.AwaitArrivals(1);
    ASSERT_TRUE(server->CancelFit(Request(), "wing", 1).ok());
    // A crash before the work has stopped.
    ASSERT_TRUE(server.store().Backup(copy + "/fidelio.db").ok());
    gate.Open();
  }
  Server server(copy);
  EXPECT_EQ(server->GetFit("wing", 1)->state, FitState::kCancelled);
}

}  // namespace
}  // namespace fidelio
