// Records of a program that has more than this one: kinds, inferences, kernels and output transforms without a method here.
#include "server/model/codec.h"
#include "server/status/details.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class UnknownTest : public ::testing::Test {
 protected:
  // The model "wing", fitted, then changed in the store; and "other", fitted.
  void MakeStore(const std::function<void(StoredSpec&)>& change, const std::optional<FitSpec>& pending = {}) {
    Server server(directory_.path());
    for (const char* name : {"wing", "other"}) {
      MakeModel(server.service(), name);
      RunFit(server.service(), name, {.budget_iterations = 3});
    }
    before_ = Answers(server.service(), "other");
    ASSERT_TRUE(server->Drain(absl::InfiniteFuture()).ok());
    const absl::Status status = server.store().Write([&](StoreTransaction& transaction) -> absl::Status {
      absl::StatusOr<ModelRecord> record = transaction.GetModel("wing");
      if (!record.ok()) return record.status();
      absl::StatusOr<StoredSpec> stored = Decode<StoredSpec>(record->spec);
      if (!stored.ok()) return stored.status();
      change(*stored);
      if (pending) {
        if (const auto fit = transaction.CreateFit("wing", Encode(StoredFit{*pending, "alice"})); !fit.ok())
          return fit.status();
      }
      return transaction.UpdateModel("wing", 0, Encode(*stored)).status();
    });
    ASSERT_TRUE(status.ok()) << status;
  }

  void ExpectServedBesides(Server& server) {
    EXPECT_EQ(server->GetModel("wing")->state, ModelState::kActive);
    EXPECT_EQ(server->ListRevisions("wing", 0, 10)->revisions.size(), 1u);
    EXPECT_FALSE(ExportBytes(server.service(), "wing").empty());
    EXPECT_EQ(Answers(server.service(), "other"), before_);
    EXPECT_TRUE(server->DeleteModel(Request(), "wing", "").ok());
  }

  const TempDirectory directory_;
  Vector before_;
};

TEST_F(UnknownTest, AModelOfAnUnknownKindIsKeptAndTakesObservationsButIsNotUsed) {
  MakeStore([](StoredSpec& stored) { stored.spec.kind = ModelKind{1000}; });
  Server server(directory_.path());
  const auto bad = absl::StatusCode::kFailedPrecondition;
  const absl::Status status = server->AcquireRevision("wing").status();
  EXPECT_TRUE(IsError(status, bad, {"models/wing: is of kind 1000, which this program does not have; use a version"}));
  EXPECT_EQ(DetailsOf(status).precondition->type, "UNKNOWN_KIND");
  EXPECT_TRUE(IsError(server->StartFit(Request(), "wing", "", {}).status(), bad, {"is of kind 1000"}));
  EXPECT_TRUE(IsError(server->UpdateModel(Request(), "wing", "", {}).status(), bad, {"is of kind 1000"}));
  EXPECT_TRUE(server->AddObservations(Request(), "wing", "", Batches({2, 0}, 1, /*seed=*/9)).ok());
  ExpectServedBesides(server);
}

TEST_F(UnknownTest, AModelOfAnUnknownOutputTransformTakesNoObservations) {
  MakeStore([](StoredSpec& stored) { stored.spec.output_transform.kind = OutputTransformKind{70}; });
  Server server(directory_.path());
  const auto bad = absl::StatusCode::kFailedPrecondition;
  EXPECT_TRUE(IsError(server->AcquireRevision("wing").status(), bad, {"models/wing: has output transform 70"}));
  EXPECT_TRUE(IsError(server->AddObservations(Request(), "wing", "", Batches({2, 0}, 1, /*seed=*/9)).status(), bad,
                      {"has output transform 70"}));
  ExpectServedBesides(server);
}

TEST_F(UnknownTest, AQueuedFitOfWhatThereIsNotFailsWithTheReason) {
  const auto run = [&](const FitSpec& spec, const std::string& why) {
    MakeStore([](StoredSpec&) {}, spec);
    Server server(directory_.path());
    const FitInfo fit = AwaitFit(server.service(), "wing", 2);
    EXPECT_EQ(fit.state, FitState::kFailed);
    EXPECT_TRUE(IsError(fit.error, absl::StatusCode::kInvalidArgument, {why}));
    EXPECT_EQ(fit.options.seed, 7u);
    ExpectServedBesides(server);
    EXPECT_TRUE(server->DeleteModel(Request(), "other", "").ok());
  };
  run({.inference = Inference{50}, .seed = 7}, "options.inference: unknown (50)");
  run({.kernel_family = KernelFamily{40}, .seed = 7}, "options.kernel_family: unknown (40)");
  run({.inference = Inference::kSvi, .seed = 7, .method_options = {{"magic", 1}}}, "options.magic: given, but");
}

}  // namespace
}  // namespace fidelio
