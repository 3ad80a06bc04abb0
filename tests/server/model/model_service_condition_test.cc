// AddObservations with update CONDITION.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "server/status/details.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

constexpr auto kCondition = ObservationUpdate::kCondition;

// Observations of the highest level alone.
std::vector<ObservationBatch> News(int n, uint64_t seed = 50) { return {Batches({0, n}, 1, seed).back()}; }

class ConditionTest : public ::testing::Test {
 protected:
  ConditionTest() : server_(directory_.path()) {
    MakeModel(server_.service(), "wing");
    RunFit(server_.service(), "wing", {.seed = 3});
  }

  AddObservationsAnswer Condition(const std::vector<ObservationBatch>& news, const std::string& request_id = "") {
    const auto answer = server_->AddObservations(Request(request_id, "body"), "wing", "", news, kCondition);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.value_or(AddObservationsAnswer());
  }

  TempDirectory directory_;
  Server server_;
};

TEST_F(ConditionTest, TheServedPosteriorKnowsNewObservationsAtOnce) {
  const Vector before = Answers(server_.service(), "wing");
  const AddObservationsAnswer answer = Condition(News(3));
  EXPECT_EQ(answer.data_version, 2);
  EXPECT_EQ(answer.revision, 2);
  EXPECT_EQ(server_->GetModel("wing")->current_revision, 2);
  const auto loaded = server_->AcquireRevision("wing", 0, answer.data_version);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const ObservationBatch batch = News(3)[0];
  const auto prediction = (*loaded)->emulator().Predict(batch.inputs, {});
  ASSERT_TRUE(prediction.ok());
  EXPECT_LT((prediction->mean - batch.outputs).cwiseAbs().maxCoeff(), 0.02);
  EXPECT_NE(Answers(server_.service(), "wing"), before);
  EXPECT_EQ(Answers(server_.service(), "wing", 1), before);
}

TEST_F(ConditionTest, TheRevisionSaysWhatItIs) {
  Condition(News(3));
  const auto fitted = server_->GetRevision("wing", 1), revision = server_->GetRevision("wing", 2);
  ASSERT_TRUE(fitted.ok() && revision.ok());
  EXPECT_EQ(fitted->origin, RevisionOrigin::kFit);
  EXPECT_EQ(revision->origin, RevisionOrigin::kCondition);
  EXPECT_EQ(revision->fit, 1);
  EXPECT_EQ(revision->data_version, 2);
  EXPECT_EQ(revision->observation_counts, (std::vector<int64_t>{8, 7}));
  EXPECT_EQ(revision->options.seed, 3u);
  EXPECT_EQ(revision->elbo, fitted->elbo);
  EXPECT_LT(revision->fit_duration, fitted->fit_duration);
  EXPECT_TRUE(revision->current);
}

TEST_F(ConditionTest, ARestartChangesNoBit) {
  Condition(News(3));
  Condition(News(1, 51));
  const Vector before = Answers(server_.service(), "wing");
  server_.Close();
  Server again(directory_.path());
  EXPECT_EQ(Answers(again.service(), "wing"), before);
}

TEST_F(ConditionTest, ObservationsThatWereAddedWithoutItCountToo) {
  ASSERT_TRUE(server_->AddObservations(Request(), "wing", "", News(2, 60)).ok());
  Condition(News(1, 61));
  EXPECT_EQ(server_->GetRevision("wing", 2)->observation_counts, (std::vector<int64_t>{8, 7}));
}

TEST_F(ConditionTest, ARequestHappensOnce) {
  const AddObservationsAnswer first = Condition(News(3), "id-1");
  const AddObservationsAnswer second = Condition(News(3), "id-1");
  EXPECT_EQ(first.revision, second.revision);
  EXPECT_EQ(first.etag, second.etag);
  EXPECT_EQ(server_->GetModel("wing")->data_version, 2);
}

TEST_F(ConditionTest, BeforeAnyFitItIsRefusedAndNothingIsAdded) {
  MakeModel(server_.service(), "young");
  const absl::Status status = server_->AddObservations(Request(), "young", "", News(1), kCondition).status();
  EXPECT_TRUE(
      IsError(status, absl::StatusCode::kFailedPrecondition, {"models/young", "no revision yet", "start a fit"}));
  EXPECT_EQ(server_->GetModel("young")->data_version, 1);
}

TEST_F(ConditionTest, WhatNeedsAFitSaysSo) {
  ModelSpec spec = SpecOf(1, 2);
  ASSERT_TRUE(server_->CreateModel(Request(), "half", spec).ok());
  ASSERT_TRUE(server_->AddObservations(Request(), "half", "", {Batches({8}, 1)[0]}).ok());
  RunFit(server_.service(), "half");
  std::vector<ObservationBatch> given = News(2);
  given[0].noise_variances = Vector{{0.1, 0.1}};
  const absl::Status status = server_->AddObservations(Request(), "half", "", given, kCondition).status();
  EXPECT_TRUE(IsError(status, absl::StatusCode::kFailedPrecondition, {"models/half", "noise variance", "then fit"}));
  EXPECT_EQ(DetailsOf(status).precondition->type, "NEEDS_FIT");
  EXPECT_EQ(server_->GetModel("half")->observation_counts, (std::vector<int64_t>{8, 0}));
}

TEST_F(ConditionTest, RollbackGoesBackToTheFit) {
  const Vector before = Answers(server_.service(), "wing");
  Condition(News(3));
  ASSERT_TRUE(server_->RollbackModel(Request(), "wing", "", 1).ok());
  EXPECT_EQ(Answers(server_.service(), "wing"), before);
}

TEST_F(ConditionTest, AWarmStartCanFollow) {
  Condition(News(3));
  const FitInfo fit = RunFit(server_.service(), "wing", {.warm_start = true});
  EXPECT_EQ(server_->GetRevision("wing", fit.revision)->origin, RevisionOrigin::kFit);
  EXPECT_EQ(server_->GetRevision("wing", fit.revision)->data_version, 2);
}

TEST_F(ConditionTest, AtTheSameTimeEachIsDone) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { Condition(News(1, 100 + i)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server_->GetModel("wing")->data_version, 1 + kThreads);
  EXPECT_EQ(server_->GetModel("wing")->current_revision, 1 + kThreads);
  EXPECT_EQ(server_->GetRevision("wing", 1 + kThreads)->observation_counts, (std::vector<int64_t>{8, 4 + kThreads}));
}

TEST(ConditionDuringFitTest, AFitThatEndsDoesNotForgetIt) {
  TempDirectory directory;
  Gate gate;
  std::atomic<bool> wait = false;
  ModelServiceOptions options;
  options.hooks.on_iteration = [&](const std::string&, int64_t, const FitProgress&) {
    if (wait) gate.Pass();
  };
  Server server(directory.path(), options);
  MakeModel(server.service(), "wing");
  RunFit(server.service(), "wing");
  wait = true;
  const auto fit = server->StartFit(Request(), "wing", "", {.seed = 9});
  ASSERT_TRUE(fit.ok()) << fit.status();
  gate.AwaitArrivals(1);
  ASSERT_TRUE(server->AddObservations(Request(), "wing", "", News(3), kCondition).ok());
  gate.Open();
  const FitInfo ended = AwaitFit(server.service(), "wing", fit->id);
  EXPECT_EQ(ended.state, FitState::kSucceeded);
  EXPECT_EQ(server->GetRevision("wing", ended.revision)->data_version, 1);
  const auto served = server->GetRevision("wing", server->GetModel("wing")->current_revision);
  ASSERT_TRUE(served.ok()) << served.status();
  EXPECT_EQ(served->origin, RevisionOrigin::kCondition);
  EXPECT_EQ(served->data_version, 2);
  EXPECT_EQ(served->fit, fit->id);
  EXPECT_EQ(served->options.seed, 9u);
}

}  // namespace
}  // namespace fidelio
