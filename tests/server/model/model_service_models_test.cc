// Models: their life, rules, etags, lists, quotas and quarantine.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "server/model/codec.h"
#include "server/status/details.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class ModelsTest : public ::testing::Test {
 protected:
  TempDirectory directory_;
};

TEST_F(ModelsTest, LiveFromCreationToDeletion) {
  Server server(directory_.path());
  ModelSpec spec = SpecOf(2, 2);
  spec.description = "lift of a wing";
  spec.input_box = InputBox{Vector{{0, -1}}, Vector{{1, 1}}};
  spec.fidelities = {{.name = "euler", .cost = 0.1}, {}};
  const auto made = server->CreateModel(Request(), "wing", spec);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->name, "wing");
  EXPECT_EQ(made->spec.fidelities[0].name, "euler");
  EXPECT_EQ(made->spec.fidelities[1].name, "level-1");
  EXPECT_EQ(made->observation_counts, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(made->current_revision, 0);
  EXPECT_EQ(made->state, ModelState::kActive);
  EXPECT_EQ(server->GetModel("wing")->etag, made->etag);
  EXPECT_TRUE(IsError(server->CreateModel(Request(), "wing", spec).status(), absl::StatusCode::kAlreadyExists,
                      {"models/wing"}));

  const auto updated = server->UpdateModel(Request(), "wing", made->etag,
                                           {.description = "drag", .input_box = std::optional<InputBox>()});
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->spec.description, "drag");
  EXPECT_FALSE(updated->spec.input_box.has_value());
  EXPECT_EQ(updated->spec.fidelities[0].name, "euler");
  EXPECT_NE(updated->etag, made->etag);

  ASSERT_TRUE(server->DeleteModel(Request(), "wing", updated->etag).ok());
  EXPECT_TRUE(IsError(server->GetModel("wing").status(), absl::StatusCode::kNotFound, {"models/wing"}));
  EXPECT_TRUE(IsError(server->DeleteModel(Request(), "wing", ""), absl::StatusCode::kNotFound, {"models/wing"}));
  EXPECT_TRUE(IsError(server->AcquireRevision("wing").status(), absl::StatusCode::kNotFound, {"models/wing"}));
}

TEST_F(ModelsTest, SurviveARestart) {
  ModelInfo before;
  {
    Server server(directory_.path());
    MakeModel(server.service(), "wing");
    before = *server->GetModel("wing");
  }
  Server server(directory_.path());
  EXPECT_EQ(Encode(*server->GetModel("wing")), Encode(before));
}

TEST_F(ModelsTest, EveryMutationTakesAnEtag) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  RunFit(server.service(), "wing", {.budget_iterations = 3});
  const auto is_aborted = [](const absl::Status& status) {
    return IsError(status, absl::StatusCode::kAborted, {"models/wing", "outdated", "read it again"});
  };
  EXPECT_TRUE(is_aborted(server->UpdateModel(Request(), "wing", "old", {.description = "x"}).status()));
  EXPECT_TRUE(is_aborted(server->AddObservations(Request(), "wing", "old", Batches({1, 1}, 1)).status()));
  EXPECT_TRUE(is_aborted(server->StartFit(Request(), "wing", "old", {}).status()));
  EXPECT_TRUE(is_aborted(server->RollbackModel(Request(), "wing", "old", 1).status()));
  EXPECT_TRUE(is_aborted(server->DeleteModel(Request(), "wing", "old")));
  const std::string etag = server->GetModel("wing")->etag;
  const auto added = server->AddObservations(Request(), "wing", etag, Batches({1, 1}, 1));
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(added->etag, server->GetModel("wing")->etag);
  EXPECT_TRUE(is_aborted(server->DeleteModel(Request(), "wing", etag)));
}

TEST_F(ModelsTest, OfTheSameNameDoNotShareEtags) {
  Server server(directory_.path());
  const std::string first = server->CreateModel(Request(), "wing", SpecOf(1, 1))->etag;
  ASSERT_TRUE(server->DeleteModel(Request(), "wing", first).ok());
  EXPECT_NE(server->CreateModel(Request(), "wing", SpecOf(1, 1))->etag, first);
}

TEST_F(ModelsTest, BadOnesAreRefusedWithFieldValueAndRule) {
  Server server(directory_.path());
  const auto refusal = [&](const std::string& name, const std::function<void(ModelSpec&)>& change) {
    ModelSpec spec = SpecOf(2, 2);
    change(spec);
    return server->CreateModel(Request(), name, spec).status();
  };
  const auto none = [](ModelSpec&) {};
  const auto bad = absl::StatusCode::kInvalidArgument;
  for (const std::string& name : std::vector<std::string>{"", "Wing", "1wing", "wing-", "a_b", std::string(64, 'a')}) {
    EXPECT_TRUE(IsError(refusal(name, none), bad, {"model_id: \"", "[a-z]"})) << name;
  }
  EXPECT_TRUE(IsError(refusal("w", [](ModelSpec& s) { s.kind = static_cast<ModelKind>(99); }), bad,
                      {"model.kind: unknown", "available: MF_DGP, AR1, NARGP, DEEP_MF, GP, AR1_RECURSIVE"}));
  EXPECT_TRUE(IsError(refusal("w", [](ModelSpec& s) { s.input_dimension = 0; }), bad,
                      {"model.input_dimension: 0, want 1 to 256"}));
  EXPECT_TRUE(IsError(refusal("w", [](ModelSpec& s) { s.fidelities.clear(); }), bad,
                      {"model.fidelities: 0 fidelities, want 1 to 16"}));
  EXPECT_TRUE(
      IsError(refusal("w", [](ModelSpec& s) { s.fidelities[1].cost = 0; }), bad, {"model.fidelities[1].cost: 0"}));
  EXPECT_TRUE(IsError(refusal("w", [](ModelSpec& s) { s.fidelities[1].name = "level-0"; }), bad,
                      {"model.fidelities[1].name: \"level-0\"", "unique"}));
  EXPECT_TRUE(IsError(refusal("w", [](ModelSpec& s) { s.fidelities[0].name = "a b"; }), bad,
                      {"model.fidelities[0].name: \"a b\""}));
  EXPECT_TRUE(IsError(refusal("w", [](ModelSpec& s) { s.description = std::string(4097, 'x'); }), bad,
                      {"model.description: 4097 bytes"}));
  EXPECT_TRUE(IsError(refusal("w",
                              [](ModelSpec& s) {
                                s.input_box = InputBox{Vector{{0}}, Vector{{1, 1}}};
                              }),
                      bad, {"model.input_box.lower: 1 numbers", "input_dimension is 2"}));
  EXPECT_TRUE(IsError(refusal("w",
                              [](ModelSpec& s) {
                                s.input_box = InputBox{Vector{{0, 1}}, Vector{{1, 1}}};
                              }),
                      bad, {"model.input_box.upper[1]: 1"}));
  EXPECT_TRUE(
      IsError(refusal("w",
                      [](ModelSpec& s) {
                        s.input_box = InputBox{Vector{{0, 1}}, Vector{{1, std::numeric_limits<double>::infinity()}}};
                      }),
              bad, {"model.input_box.upper[1]: inf"}));
  EXPECT_TRUE(IsError(refusal("w", [](ModelSpec& s) { s.output_transform.upper = 1; }), bad,
                      {"model.output_transform.upper: 1"}));
  const auto bounds = [&](double lower, double upper) {
    return refusal("w", [&](ModelSpec& s) {
      s.output_transform = {.kind = OutputTransformKind::kBounded, .lower = lower, .upper = upper};
    });
  };
  EXPECT_TRUE(IsError(bounds(2, 2), bad, {"model.output_transform.upper: 2, want more than lower, 2"}));
  EXPECT_TRUE(IsError(bounds(std::nan(""), 2), bad, {"model.output_transform.lower: nan"}));
  ASSERT_TRUE(server->CreateModel(Request(), "w", SpecOf(2, 2)).ok());
  EXPECT_TRUE(IsError(server->UpdateModel(Request(), "w", "", {.fidelities = std::vector<FidelitySpec>(3)}).status(),
                      bad, {"model.fidelities: 3 fidelities", "has 2", "immutable"}));
}

TEST_F(ModelsTest, AreListedByNamePageByPage) {
  Server server(directory_.path());
  for (const char* name : {"tail", "wing-b", "wing-a", "wing-c", "apex"}) {
    ASSERT_TRUE(server->CreateModel(Request(), name, SpecOf(1, 1)).ok());
  }
  const auto names = [&](const std::string& prefix, int64_t limit) {
    std::vector<std::string> all;
    std::string after;
    do {
      const auto list = server->ListModels(prefix, after, limit);
      EXPECT_LE(static_cast<int64_t>(list->models.size()), limit);
      for (const ModelInfo& model : list->models) all.push_back(model.name);
      after = list->next;
    } while (!after.empty());
    return all;
  };
  EXPECT_EQ(names("", 2), (std::vector<std::string>{"apex", "tail", "wing-a", "wing-b", "wing-c"}));
  EXPECT_EQ(names("wing-", 1), (std::vector<std::string>{"wing-a", "wing-b", "wing-c"}));
  EXPECT_EQ(names("x", 5), std::vector<std::string>());
}

TEST_F(ModelsTest, QuotasOfCallersHold) {
  Gate gate;
  ModelServiceOptions options;
  options.hooks.on_iteration = [&](const std::string&, int64_t, const FitProgress&) { gate.Pass(); };
  MutationContext alice = Request("", "", "alice");
  alice.caller.quotas = {.max_models = 2, .max_observations = 14, .max_concurrent_fits = 1};
  {
    Server server(directory_.path(), options);
    ASSERT_TRUE(server->CreateModel(alice, "a-1", SpecOf(1, 2)).ok());
    ASSERT_TRUE(server->CreateModel(alice, "a-2", SpecOf(1, 2)).ok());
    ASSERT_TRUE(server->CreateModel(Request("", "", "bob"), "b-1", SpecOf(1, 2)).ok());
  }
  Server server(directory_.path(), options);  // who made what is remembered
  const absl::Status models = server->CreateModel(alice, "a-3", SpecOf(1, 2)).status();
  EXPECT_TRUE(IsError(models, absl::StatusCode::kResourceExhausted, {"token:alice", "2 models, and 2 are allowed"}));
  EXPECT_EQ(DetailsOf(models).quota->subject, "token:alice");
  ASSERT_TRUE(server->AddObservations(alice, "a-1", "", Batches(kSizes, 1)).ok());
  EXPECT_TRUE(IsError(server->AddObservations(alice, "a-2", "", Batches({3, 0}, 1)).status(),
                      absl::StatusCode::kResourceExhausted, {"12 observations and 3 more, and 14 are allowed"}));
  EXPECT_TRUE(server->AddObservations(alice, "a-2", "", Batches({2, 0}, 1)).ok());
  ASSERT_TRUE(server->StartFit(alice, "a-1", "", {.budget_iterations = 3}).ok());
  EXPECT_TRUE(IsError(server->StartFit(alice, "a-2", "", {}).status(), absl::StatusCode::kResourceExhausted,
                      {"token:alice", "1 fits", "1 are allowed"}));
  gate.Open();
  AwaitFit(server.service(), "a-1", 1);
  EXPECT_TRUE(server->StartFit(alice, "a-2", "", {.budget_iterations = 3}).ok());
  // Deleting gives back.
  ASSERT_TRUE(server->DeleteModel(alice, "a-1", "").ok());
  EXPECT_TRUE(server->CreateModel(alice, "a-3", SpecOf(1, 2)).ok());
  EXPECT_TRUE(server->AddObservations(alice, "a-3", "", Batches(kSizes, 1)).ok());
}

TEST_F(ModelsTest, LimitsOfTheServerHold) {
  ModelServiceOptions options;
  options.max_models = 1;
  options.max_observations = 13;
  options.max_batch = 12;
  options.max_fit_bytes = 100;
  Server server(directory_.path(), options);
  MakeModel(server.service(), "wing");
  EXPECT_TRUE(IsError(server->CreateModel(Request(), "tail", SpecOf(1, 1)).status(),
                      absl::StatusCode::kResourceExhausted, {"server: 1 models, and 1 are allowed"}));
  EXPECT_TRUE(IsError(server->AddObservations(Request(), "wing", "", Batches({2, 0}, 1)).status(),
                      absl::StatusCode::kResourceExhausted, {"models/wing: 12 observations and 2 more", "13"}));
  EXPECT_TRUE(IsError(server->AddObservations(Request(), "wing", "", Batches({13, 0}, 1)).status(),
                      absl::StatusCode::kInvalidArgument, {"observations: more than 12 points"}));
  EXPECT_TRUE(IsError(server->StartFit(Request(), "wing", "", {}).status(), absl::StatusCode::kResourceExhausted,
                      {"models/wing", "of memory"}));
}

TEST_F(ModelsTest, MemoryOfAFitCountsItsInducingPoints) {
  ModelServiceOptions options;
  options.max_fit_bytes = int64_t{100} << 20;
  Server server(directory_.path(), options);
  ASSERT_TRUE(server->CreateModel(Request(), "wing", SpecOf(1, 1)).ok());
  ASSERT_TRUE(server->AddObservations(Request(), "wing", "", Batches({4000}, 1)).ok());
  for (const Inference inference : {Inference::kVariational, Inference::kSvi}) {
    const auto start = [&](double inducing_points) {
      const FitSpec spec{.inference = inference, .method_options = {{"inducing_points", inducing_points}}};
      return server->StartFit(Request(), "wing", "", spec, /*validate_only=*/true).status();
    };
    EXPECT_TRUE(start(50).ok()) << start(50);
    EXPECT_TRUE(IsError(start(4000), absl::StatusCode::kResourceExhausted,
                        {"models/wing", "with inducing_points: 4000", "MiB of memory, and the limit is 100 MiB"}));
  }
}

TEST_F(ModelsTest, DamageQuarantinesTheModelAloneAndDeletionCures) {
  {
    Server server(directory_.path());
    MakeModel(server.service(), "bad");
    MakeModel(server.service(), "good");
    RunFit(server.service(), "good", {.budget_iterations = 3});
    server->Drain(absl::InfiniteFuture()).IgnoreError();
    // A checkpoint that passes the store's checksum and is none.
    ASSERT_TRUE(server.store()
                    .Write([](StoreTransaction& transaction) -> absl::Status {
                      const auto added = transaction.AddRevision("bad", Encode(RevisionInfo()), "rubbish");
                      if (!added.ok()) return added.status();
                      return transaction.SetCurrentRevision("bad", 0, added->id).status();
                    })
                    .ok());
  }
  Server server(directory_.path());
  EXPECT_TRUE(IsError(server->AcquireRevision("bad").status(), absl::StatusCode::kDataLoss,
                      {"models/bad", "not a Fidelio checkpoint"}));
  const auto model = server->GetModel("bad");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->state, ModelState::kQuarantined);
  EXPECT_FALSE(model->quarantine_reason.empty());
  EXPECT_EQ(server->AddObservations(Request(), "bad", "", Batches({1, 1}, 1)).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(server->StartFit(Request(), "bad", "", {}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(Answers(server.service(), "good").allFinite());
  EXPECT_EQ(server->ListModels("", "", 10)->models.size(), 2u);
  ASSERT_TRUE(server->DeleteModel(Request("gone", "x"), "bad", "").ok());
  EXPECT_TRUE(server->DeleteModel(Request("gone", "x"), "bad", "").ok());
  MakeModel(server.service(), "bad");
  RunFit(server.service(), "bad", {.budget_iterations = 3});
}

}  // namespace
}  // namespace fidelio
