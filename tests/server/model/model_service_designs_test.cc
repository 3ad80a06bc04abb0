// Designs and diagnostics by ModelService.
#include <memory>

#include "gtest/gtest.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class ModelServiceDesignsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const LoadedRevision> Acquire(const std::string& model) {
    const auto revision = server_->AcquireRevision(model);
    EXPECT_TRUE(revision.ok()) << revision.status();
    return *revision;
  }

  // A model of kind GP, with costs 1 and 7.
  void MakeGp(const std::string& name) {
    ModelSpec spec = SpecOf(1, 2);
    spec.kind = ModelKind::kGp;
    spec.fidelities = {{"low", 1}, {"high", 7}};
    ASSERT_TRUE(server_->CreateModel(Request(), name, spec).ok());
    ASSERT_TRUE(server_->AddObservations(Request(), name, "", Batches({4, 8}, 1)).ok());
    RunFit(server_.service(), name);
  }

  TempDirectory directory_;
  Server server_{directory_.path()};
};

DppQuery SmallDpp(int k) {
  DppQuery query;
  query.options.k = k;
  query.source.count = 32;
  return query;
}

SuggestQuery SmallSuggest() {
  SuggestQuery query;
  query.source.count = 32;
  query.target_count = 16;
  return query;
}

TEST_F(ModelServiceDesignsTest, OfAGpEverythingIsAboutTheHighestFidelity) {
  MakeGp("wing");
  const auto revision = Acquire("wing");
  const auto runs = server_->Suggest(*revision, SmallSuggest(), GoOn);
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->runs.size(), 1u);
  EXPECT_EQ(runs->runs[0].level, 1);
  EXPECT_EQ(runs->runs[0].fidelity, "high");
  EXPECT_EQ(runs->runs[0].cost, 7);
  EXPECT_EQ(runs->total_cost, 7);
  SuggestQuery low = SmallSuggest();
  low.levels = {0};
  EXPECT_TRUE(IsError(server_->Suggest(*revision, low, GoOn).status(), absl::StatusCode::kInvalidArgument,
                      {"levels[0]: 0", "kind GP"}));

  const auto diagnosis = server_->Diagnose(*revision, GoOn);
  ASSERT_TRUE(diagnosis.ok()) << diagnosis.status();
  ASSERT_EQ(diagnosis->fidelities.size(), 1u);
  EXPECT_EQ(diagnosis->fidelities.at(0).level, 1);
  EXPECT_EQ(diagnosis->fidelities.at(0).fidelity, "high");
  EXPECT_EQ(diagnosis->fidelities.at(0).diagnostics.count, 8);

  DppQuery dpp = SmallDpp(3);
  dpp.exclude_observed = true;
  const auto design = server_->SampleDpp(*revision, dpp, GoOn);
  ASSERT_TRUE(design.ok()) << design.status();
  EXPECT_EQ(design->inputs.rows(), 3);
}

TEST_F(ModelServiceDesignsTest, OfAGpInitialDesignsHaveEveryFidelity) {
  MakeGp("wing");
  InitialDesignQuery query;
  query.counts = {{1, 3}, {0, 5}};
  const auto runs = server_->InitialDesign("wing", query, GoOn);
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->levels.size(), 2u);
  EXPECT_EQ(runs->levels[0].fidelity, "low");
  EXPECT_EQ(runs->levels[0].inputs.rows(), 5);
  EXPECT_EQ(runs->levels[1].inputs.rows(), 3);
  EXPECT_EQ(runs->total_cost, 5 * 1 + 3 * 7);
  EXPECT_EQ(runs->data_version, 1);
}

TEST_F(ModelServiceDesignsTest, WhatWasConditionedOnIsObserved) {
  MakeModel(server_.service(), "wing");
  RunFit(server_.service(), "wing");
  DppQuery query = SmallDpp(1);
  query.exclude_observed = true;
  query.source.given = Matrix{{0.123}, {0.456}};
  query.options.quality_mode = QualityMode::kGiven;
  query.options.quality = Vector{{1e6, 1e-6}};
  query.options.method = DppMethod::kMap;
  auto design = server_->SampleDpp(*Acquire("wing"), query, GoOn);
  ASSERT_TRUE(design.ok()) << design.status();
  EXPECT_EQ(design->indices, std::vector<int>({0}));
  const ObservationBatch batch{.level = 1, .inputs = Matrix{{0.123}}, .outputs = Vector{{0.5}}};
  const auto added = server_->AddObservations(Request(), "wing", "", {batch}, ObservationUpdate::kCondition);
  ASSERT_TRUE(added.ok()) << added.status();
  design = server_->SampleDpp(*Acquire("wing"), query, GoOn);
  ASSERT_TRUE(design.ok()) << design.status();
  EXPECT_EQ(design->indices, std::vector<int>({1}));
}

TEST_F(ModelServiceDesignsTest, ACheckThatFailsEndsTheWork) {
  MakeModel(server_.service(), "wing");
  RunFit(server_.service(), "wing");
  const auto revision = Acquire("wing");
  const auto stop = [] { return absl::CancelledError("the caller has gone"); };
  EXPECT_TRUE(
      IsError(server_->SampleDpp(*revision, SmallDpp(1), stop).status(), absl::StatusCode::kCancelled, {"gone"}));
  EXPECT_TRUE(
      IsError(server_->Suggest(*revision, SmallSuggest(), stop).status(), absl::StatusCode::kCancelled, {"gone"}));
  EXPECT_TRUE(IsError(server_->Diagnose(*revision, stop).status(), absl::StatusCode::kCancelled, {"gone"}));
  InitialDesignQuery initial;
  initial.counts = {{0, 3}};
  EXPECT_TRUE(IsError(server_->InitialDesign("wing", initial, stop).status(), absl::StatusCode::kCancelled, {"gone"}));
  // Also between the runs that are chosen.
  SuggestQuery many = SmallSuggest();
  many.options.count = 20;
  int asked = 0;
  const auto later = [&asked] { return ++asked < 5 ? absl::OkStatus() : absl::CancelledError("the caller has gone"); };
  EXPECT_TRUE(IsError(server_->Suggest(*revision, many, later).status(), absl::StatusCode::kCancelled, {"gone"}));
  EXPECT_EQ(asked, 5);
  asked = 3;  // and within the covariances
  EXPECT_TRUE(
      IsError(server_->SampleDpp(*revision, SmallDpp(1), later).status(), absl::StatusCode::kCancelled, {"gone"}));
  EXPECT_EQ(asked, 5);
}

TEST_F(ModelServiceDesignsTest, AModelThatWasMadeAgainMeanwhileIsAborted) {
  MakeModel(server_.service(), "wing");
  RunFit(server_.service(), "wing");
  const auto revision = Acquire("wing");
  ASSERT_TRUE(server_->DeleteModel(Request(), "wing", "").ok());
  EXPECT_TRUE(
      IsError(server_->SampleDpp(*revision, SmallDpp(1), GoOn).status(), absl::StatusCode::kNotFound, {"wing"}));
  ASSERT_TRUE(server_->CreateModel(Request(), "wing", SpecOf(1, 2)).ok());
  EXPECT_TRUE(IsError(server_->SampleDpp(*revision, SmallDpp(1), GoOn).status(), absl::StatusCode::kAborted, {"wing"}));
  ASSERT_TRUE(server_->DeleteModel(Request(), "wing", "").ok());
  ASSERT_TRUE(server_->CreateModel(Request(), "wing", SpecOf(3, 1)).ok());
  EXPECT_TRUE(
      IsError(server_->Suggest(*revision, SmallSuggest(), GoOn).status(), absl::StatusCode::kAborted, {"wing"}));
  EXPECT_TRUE(IsError(server_->Diagnose(*revision, GoOn).status(), absl::StatusCode::kAborted, {"wing"}));
}

}  // namespace
}  // namespace fidelio
