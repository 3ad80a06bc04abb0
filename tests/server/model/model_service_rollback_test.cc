// RollbackModel while fits are unfinished: their revisions are made, but not served.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class RollbackTest : public ::testing::Test {
 protected:
  // A model with two revisions. From then on fits wait at the gate.
  RollbackTest() { Open(); }

  void Open() {
    ModelServiceOptions options;
    options.checkpoint_interval = absl::ZeroDuration();  // the state is saved at every iteration
    options.hooks.on_iteration = [this](const std::string&, int64_t, const FitProgress&) {
      if (wait_) gate_->Pass();
    };
    server_ = std::make_unique<Server>(directory_.path(), options);
  }

  void MakeTwoRevisions() {
    MakeModel(server_->service(), "wing");
    for (const uint64_t seed : {1, 2}) RunFit(server_->service(), "wing", {.budget_iterations = 30, .seed = seed});
  }

  int64_t Start(uint64_t seed) {
    const auto fit = (*server_)->StartFit(Request(), "wing", "", {.budget_iterations = 30, .seed = seed});
    EXPECT_TRUE(fit.ok()) << fit.status();
    return fit.ok() ? fit->id : 0;
  }

  TempDirectory directory_;
  std::unique_ptr<Gate> gate_ = std::make_unique<Gate>();
  std::atomic<bool> wait_ = false;
  std::unique_ptr<Server> server_;
};

TEST_F(RollbackTest, AFinishingFitDoesNotUndoIt) {
  MakeTwoRevisions();
  const Vector first = Answers(server_->service(), "wing", 1);
  wait_ = true;
  const int64_t running = Start(3), pending = Start(4);
  gate_->AwaitArrivals(1);
  ASSERT_TRUE((*server_)->RollbackModel(Request(), "wing", "", 1).ok());
  const int64_t later = Start(5);
  gate_->Open();
  for (const int64_t id : {running, pending}) {
    const FitInfo fit = AwaitFit(server_->service(), "wing", id);
    EXPECT_EQ(fit.state, FitState::kSucceeded);
    EXPECT_EQ(fit.revision, id);
    EXPECT_TRUE(fit.not_served);
    EXPECT_TRUE((*server_)->GetRevision("wing", fit.revision).ok());
    EXPECT_TRUE((*server_)->GetFit("wing", id)->not_served);
  }
  // What was asked for after the rollback is served.
  const FitInfo last = AwaitFit(server_->service(), "wing", later);
  EXPECT_FALSE(last.not_served);
  EXPECT_EQ((*server_)->GetModel("wing")->current_revision, last.revision);
  ASSERT_TRUE((*server_)->RollbackModel(Request(), "wing", "", 1).ok());
  EXPECT_EQ(Answers(server_->service(), "wing"), first);
}

TEST_F(RollbackTest, TheServedRevisionStaysUntilTheNextFitIsAskedFor) {
  MakeTwoRevisions();
  wait_ = true;
  const int64_t fit = Start(3);
  gate_->AwaitArrivals(1);
  ASSERT_TRUE((*server_)->RollbackModel(Request(), "wing", "", 1).ok());
  const std::string etag = (*server_)->GetModel("wing")->etag;
  gate_->Open();
  EXPECT_TRUE(AwaitFit(server_->service(), "wing", fit).not_served);
  EXPECT_EQ((*server_)->GetModel("wing")->current_revision, 1);
  EXPECT_EQ((*server_)->GetModel("wing")->etag, etag);
}

TEST_F(RollbackTest, ARestartDoesNotForgetIt) {
  MakeTwoRevisions();
  wait_ = true;
  const int64_t running = Start(3), pending = Start(4);
  gate_->AwaitArrivals(1);
  ASSERT_TRUE((*server_)->RollbackModel(Request(), "wing", "", 1).ok());
  wait_ = false;
  // The fit saves its state after the rollback, and ends there.
  std::thread closing([&] { server_->service().Drain(absl::InfiniteFuture()).IgnoreError(); });
  gate_->Open();
  closing.join();
  server_.reset();
  Open();
  for (const int64_t id : {running, pending}) {
    const FitInfo fit = AwaitFit(server_->service(), "wing", id);
    EXPECT_EQ(fit.state, FitState::kSucceeded);
    EXPECT_TRUE(fit.not_served) << id;
  }
  EXPECT_EQ((*server_)->GetModel("wing")->current_revision, 1);
}

TEST_F(RollbackTest, NewsDoNotBringTheFitBack) {
  MakeTwoRevisions();
  wait_ = true;
  const int64_t fit = Start(3);
  gate_->AwaitArrivals(1);
  ASSERT_TRUE((*server_)->RollbackModel(Request(), "wing", "", 1).ok());
  const auto added = (*server_)->AddObservations(Request(), "wing", "", {Batches({0, 3}, 1, 50).back()},
                                                 ObservationUpdate::kCondition);
  ASSERT_TRUE(added.ok()) << added.status();
  gate_->Open();
  EXPECT_TRUE(AwaitFit(server_->service(), "wing", fit).not_served);
  EXPECT_EQ((*server_)->GetModel("wing")->current_revision, added->revision);
  EXPECT_EQ((*server_)->ListRevisions("wing", 0, 10)->revisions.size(), 4u);
}

}  // namespace
}  // namespace fidelio
