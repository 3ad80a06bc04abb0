// Revisions: lists, rollback, and the cache that predictions are served from.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class RevisionsTest : public ::testing::Test {
 protected:
  // Models that were fitted quickly, one revision per seed.
  void Fit(Server& server, const std::string& model, const std::vector<uint64_t>& seeds) {
    MakeModel(server.service(), model);
    for (const uint64_t seed : seeds) RunFit(server.service(), model, {.budget_iterations = 1200, .seed = seed});
  }

  TempDirectory directory_;
};

TEST_F(RevisionsTest, AreListedTheNewestFirst) {
  Server server(directory_.path());
  Fit(server, "wing", {1, 2, 3});
  const auto page = server->ListRevisions("wing", 0, 2);
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->revisions.size(), 2u);
  EXPECT_EQ(page->revisions[0].id, 3);
  EXPECT_TRUE(page->revisions[0].current);
  EXPECT_FALSE(page->revisions[1].current);
  const auto rest = server->ListRevisions("wing", page->next, 2);
  ASSERT_EQ(rest->revisions.size(), 1u);
  EXPECT_EQ(rest->revisions[0].id, 1);
  EXPECT_EQ(rest->next, 0);
  EXPECT_TRUE(
      IsError(server->GetRevision("wing", 4).status(), absl::StatusCode::kNotFound, {"models/wing/revisions/4"}));
  EXPECT_TRUE(
      IsError(server->AcquireRevision("wing", 4).status(), absl::StatusCode::kNotFound, {"models/wing/revisions/4"}));
}

TEST_F(RevisionsTest, RollbackServesAnOlderOneAndTheNextFitMakesTheNextNumber) {
  Server server(directory_.path());
  Fit(server, "wing", {1, 2});
  const Vector first = Answers(server.service(), "wing", 1), second = Answers(server.service(), "wing");
  ASSERT_NE(first, second);
  const auto back = server->RollbackModel(Request(), "wing", server->GetModel("wing")->etag, 1);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->current_revision, 1);
  EXPECT_EQ(Answers(server.service(), "wing"), first);
  EXPECT_EQ(RunFit(server.service(), "wing", {.budget_iterations = 3}).revision, 3);
  EXPECT_EQ(server->RollbackModel(Request(), "wing", "", 2)->current_revision, 2);
  EXPECT_EQ(Answers(server.service(), "wing"), second);
  EXPECT_TRUE(IsError(server->RollbackModel(Request(), "wing", "", 9).status(), absl::StatusCode::kNotFound,
                      {"models/wing/revisions/9"}));
}

TEST_F(RevisionsTest, MinDataVersionReadsOnesWrites) {
  Server server(directory_.path());
  Fit(server, "wing", {1});
  EXPECT_TRUE(server->AcquireRevision("wing", 0, 1).ok());
  const int64_t version = server->AddObservations(Request(), "wing", "", Batches({1, 1}, 1, 9))->data_version;
  EXPECT_TRUE(IsError(server->AcquireRevision("wing", 0, version).status(), absl::StatusCode::kFailedPrecondition,
                      {"models/wing/revisions/1", "knows data_version 1", "min_data_version is 2", "start a fit"}));
  RunFit(server.service(), "wing", {.budget_iterations = 3});
  EXPECT_TRUE(server->AcquireRevision("wing", 0, version).ok());
}

TEST_F(RevisionsTest, EvictionChangesNoAnswer) {
  std::atomic<int> loads = 0;
  ModelServiceOptions options;
  options.cache_bytes = 1;  // room for one
  options.hooks.on_load = [&](const std::string&, int64_t) { ++loads; };
  Server server(directory_.path(), options);
  Fit(server, "wing", {1});
  Fit(server, "tail", {2});
  EXPECT_EQ(loads, 0);  // what was fitted is in memory
  const auto held = *server->AcquireRevision("tail");
  const Vector tail = Answers(server.service(), "tail"), wing = Answers(server.service(), "wing");
  EXPECT_EQ(loads, 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Answers(server.service(), "tail"), tail);
    EXPECT_EQ(Answers(server.service(), "wing"), wing);
  }
  EXPECT_EQ(loads, 5);
  EXPECT_TRUE(held->emulator().Predict(SmallQueries(3, 1), {}).ok());  // whoever holds one keeps it
}

TEST_F(RevisionsTest, ManyCallersLoadOnce) {
  Vector before;
  {
    Server server(directory_.path());
    Fit(server, "wing", {1});
    before = Answers(server.service(), "wing");
  }
  constexpr int kCallers = 16;
  Gate gate;
  std::atomic<int> loads = 0;
  ModelServiceOptions options;
  options.hooks.on_load = [&](const std::string&, int64_t) {
    ++loads;
    gate.Pass();
  };
  Server server(directory_.path(), options);
  EXPECT_EQ(loads, 0);  // lazily
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] { EXPECT_EQ(Answers(server.service(), "wing"), before); });
  }
  gate.AwaitArrivals(1);
  EXPECT_TRUE(IsError(server->AcquireRevision("wing", 0, 0, absl::Now()).status(), absl::StatusCode::kDeadlineExceeded,
                      {"still being loaded"}));
  gate.Open();
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(loads, 1);
}

TEST_F(RevisionsTest, OfADeletedModelAreNotServedToItsSuccessor) {
  Server server(directory_.path());
  Fit(server, "wing", {1});
  const Vector old = Answers(server.service(), "wing");
  ASSERT_TRUE(server->DeleteModel(Request(), "wing", "").ok());
  MakeModel(server.service(), "wing", {6, 3});
  EXPECT_EQ(server->AcquireRevision("wing").status().code(), absl::StatusCode::kFailedPrecondition);
  RunFit(server.service(), "wing", {.seed = 2});
  EXPECT_NE(Answers(server.service(), "wing"), old);
}

}  // namespace
}  // namespace fidelio
