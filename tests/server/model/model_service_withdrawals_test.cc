// Observations that are taken out of use or corrected, known run_ids, and copies.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "core/registry/emulator_registry.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

using Ids = std::vector<std::string>;

class WithdrawalsTest : public ::testing::Test {
 protected:
  WithdrawalsTest() : server_(directory_.path()) {
    ModelSpec spec = SpecOf(1, 2);
    spec.input_box = InputBox{Vector{{0.0}}, Vector{{1.0}}};
    EXPECT_TRUE(server_->CreateModel(Request(), "wing", spec).ok());
  }

  static ObservationBatch Batch(int level, std::vector<double> x, std::vector<double> y, Ids ids = {}) {
    ObservationBatch batch;
    batch.level = level;
    batch.inputs = Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
    batch.outputs = Eigen::Map<const Vector>(y.data(), static_cast<Eigen::Index>(y.size()));
    batch.run_ids = std::move(ids);
    return batch;
  }

  absl::StatusOr<AddObservationsAnswer> Add(const ObservationBatch& batch, AddObservationsOptions options = {}) {
    return server_->AddObservations(Request(), "wing", "", {batch}, options);
  }

  absl::StatusOr<ChangeObservationsAnswer> Withdraw(Ids ids, const std::string& reason = "") {
    return server_->WithdrawObservations(Request(), "wing", "", {.run_ids = std::move(ids), .reason = reason});
  }

  absl::StatusOr<ChangeObservationsAnswer> Correct(Ids ids, std::vector<double> y) {
    return server_->CorrectObservations(
        Request(), "wing", "",
        {.run_ids = std::move(ids),
         .outputs = Eigen::Map<const Vector>(y.data(), static_cast<Eigen::Index>(y.size())),
         .reason = "unit"});
  }

  // "id=output" of all observations, in their order; withdrawn ones end with "-", corrected ones with "~".
  Ids List(ObservationListQuery query = {}) {
    Ids all;
    while (true) {
      const auto page = server_->ListObservations("wing", query);
      if (!page.ok()) {
        ADD_FAILURE() << page.status();
        return all;
      }
      for (const ObservationBatch& batch : page->observations) {
        for (Eigen::Index i = 0; i < batch.outputs.size(); ++i) {
          all.push_back(absl::StrCat(batch.run_ids[static_cast<size_t>(i)], "=", batch.outputs[i],
                                     !batch.withdrawal             ? ""
                                     : batch.withdrawal->corrected ? "~"
                                                                   : "-"));
        }
      }
      total_ = page->total_size;
      if (!page->next) return all;
      query.from = *page->next;
      query.data_version = page->data_version;
    }
  }

  TempDirectory directory_;
  Server server_;
  int64_t total_ = 0;
};

TEST_F(WithdrawalsTest, IdsAreTheClientsOrMadeByTheServer) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2}, {1, 2})).ok());
  ASSERT_TRUE(
      server_->AddObservations(Request(), "wing", "", {Batch(0, {.3}, {3}, {"a"}), Batch(1, {.4, .5}, {4, 5})}).ok());
  EXPECT_EQ(List(), (Ids{"1-1=1", "1-2=2", "a=3", "2-2=4", "2-3=5"}));
  EXPECT_EQ(List({.max_points = 1}), (Ids{"1-1=1", "1-2=2", "a=3", "2-2=4", "2-3=5"}));
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(Add(Batch(0, {.6}, {6}, {"3-1"})).status(), bad, {"run_ids[0]: \"3-1\"", "server makes"}));
  EXPECT_TRUE(IsError(Add(Batch(0, {.6}, {6}, {"a b"})).status(), bad, {"run_ids[0]: \"a b\""}));
  EXPECT_TRUE(IsError(Add(Batch(0, {.6, .7}, {6, 7}, {"b"})).status(), bad, {"run_ids: 1 ids, want 2"}));
  EXPECT_TRUE(IsError(Add(Batch(0, {.6, .7}, {6, 7}, {"b", "b"})).status(), bad, {"run_ids[1]", "twice"}));
}

TEST_F(WithdrawalsTest, AKnownIdIsReplayedOrABORTED) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2}, {1, 2}, {"a", "b"})).ok());
  const auto again = Add(Batch(0, {.2, .3}, {2, 3}, {"b", "c"}));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->added, 1);
  EXPECT_EQ(again->replayed, 1);
  EXPECT_TRUE(again->warnings.empty());
  EXPECT_EQ(List(), (Ids{"a=1", "b=2", "c=3"}));
  EXPECT_TRUE(IsError(Add(Batch(0, {.2}, {9}, {"b"})).status(), absl::StatusCode::kAborted, {"\"b\"", "in use"}));
  EXPECT_TRUE(IsError(Add(Batch(1, {.2}, {2}, {"b"})).status(), absl::StatusCode::kAborted, {"\"b\""}));
  const auto nothing = Add(Batch(0, {.1}, {1}, {"a"}));
  EXPECT_EQ(nothing->data_version, 2);
  EXPECT_EQ(nothing->added, 0);
  // Once it is withdrawn, an id is free.
  ASSERT_TRUE(Withdraw({"b"}).ok());
  ASSERT_TRUE(Add(Batch(0, {.2}, {9}, {"b"})).ok());
  EXPECT_EQ(List(), (Ids{"a=1", "c=3", "b=9"}));
}

TEST_F(WithdrawalsTest, CopiesAreCountedAndLeftOutOnRequest) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2, 0}, {1, 2, 0})).ok());
  const auto twice = Add(Batch(0, {.1, .2, -0.0, .4, .4}, {1, 2, 0, 4, 4}));
  ASSERT_TRUE(twice.ok()) << twice.status();
  ASSERT_EQ(twice->warnings.size(), 1u);
  EXPECT_EQ(twice->warnings[0].kind, ObservationWarningKind::kDuplicate);
  EXPECT_EQ(twice->warnings[0].count, 4);
  EXPECT_EQ(twice->warnings[0].rows, (std::vector<int64_t>{0, 1, 2, 4}));
  EXPECT_EQ(twice->added, 5);
  EXPECT_EQ(twice->observation_counts[0], 8);
  // Another level, input or output is no copy.
  EXPECT_TRUE(Add(Batch(1, {.1}, {1}))->warnings.empty());
  EXPECT_TRUE(Add(Batch(0, {.1}, {1.5}))->warnings.empty());
  const auto skipped = Add(Batch(0, {.1, .9}, {1, 9}), {ObservationUpdate::kNone, DuplicatePolicy::kSkip});
  EXPECT_EQ(skipped->added, 1);
  EXPECT_EQ(skipped->skipped, 1);
  EXPECT_EQ(skipped->warnings[0].count, 1);
  EXPECT_EQ(skipped->observation_counts[0], 10);
  // All copies: no new version.
  const auto none = Add(Batch(0, {.1, .9}, {1, 9}), {ObservationUpdate::kNone, DuplicatePolicy::kSkip});
  EXPECT_EQ(none->data_version, skipped->data_version);
  EXPECT_EQ(none->added, 0);
  // The index that finds them is built again by another process.
  server_.Close();
  Server later(directory_.path());
  EXPECT_EQ(later->AddObservations(Request(), "wing", "", {Batch(0, {.9}, {9})})->warnings.size(), 1u);
}

TEST_F(WithdrawalsTest, WhatWasWithdrawnIsNoLongerCopied) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2}, {1, 2})).ok());
  ASSERT_TRUE(Withdraw({"1-1"}).ok());
  const auto again = Add(Batch(0, {.1, .2}, {1, 2}));
  ASSERT_EQ(again->warnings.size(), 1u);
  EXPECT_EQ(again->warnings[0].rows, (std::vector<int64_t>{1}));
}

TEST_F(WithdrawalsTest, RowsFarOutsideOfTheBoxAreWarnedOf) {
  EXPECT_TRUE(Add(Batch(0, {4, -3}, {1, 2}))->warnings.empty());
  const auto far = Add(Batch(0, {.5, 4.01, -100}, {3, 4, 5}));
  ASSERT_EQ(far->warnings.size(), 1u);
  EXPECT_EQ(far->warnings[0].kind, ObservationWarningKind::kFarOutsideBox);
  EXPECT_EQ(far->warnings[0].rows, (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(absl::StrContains(far->warnings[0].message, "4.01 for x1")) << far->warnings[0].message;
  EXPECT_EQ(far->added, 3);
}

TEST_F(WithdrawalsTest, WithdrawnObservationsRemainAsHistory) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2, .3}, {1, 2, 3})).ok());
  ASSERT_TRUE(Add(Batch(1, {.1}, {4}, {"d"})).ok());
  const auto answer = Withdraw({"1-2", "d"}, "wrong mesh");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->data_version, 3);
  EXPECT_EQ(answer->changed, 2);
  EXPECT_EQ(answer->observation_counts, (std::vector<int64_t>{2, 0}));
  for (const bool restarted : {false, true}) {
    if (restarted) {
      server_.Close();
      server_.~Server();
      new (&server_) Server(directory_.path());
    }
    EXPECT_EQ(List(), (Ids{"1-1=1", "1-3=3"}));
    EXPECT_EQ(total_, 2);
    EXPECT_EQ(List({.show_withdrawn = true}), (Ids{"1-1=1", "1-2=2-", "1-3=3", "d=4-"}));
    EXPECT_EQ(total_, 4);
    EXPECT_EQ(List({.level = 1, .show_withdrawn = true}), (Ids{"d=4-"}));
    EXPECT_EQ(List({.max_points = 1}), (Ids{"1-1=1", "1-3=3"}));
    // As it was before.
    EXPECT_EQ(List({.data_version = 2}), (Ids{"1-1=1", "1-2=2", "1-3=3", "d=4"}));
    EXPECT_EQ(total_, 4);
    EXPECT_EQ(server_->GetModel("wing")->withdrawn_count, 2);
    EXPECT_TRUE(server_.store().Check()->empty());
  }
  const auto history = server_->ListObservations("wing", {.show_withdrawn = true});
  EXPECT_EQ(history->observations[1].withdrawal->reason, "wrong mesh");
  EXPECT_EQ(history->observations[1].withdrawal->data_version, 3);
}

TEST_F(WithdrawalsTest, ABatchIsWithdrawnByItsVersion) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2}, {1, 2})).ok());
  ASSERT_TRUE(server_->AddObservations(Request(), "wing", "", {Batch(0, {.3}, {3}), Batch(1, {.4}, {4})}).ok());
  ASSERT_TRUE(Withdraw({"2-1"}).ok());
  const auto rest = server_->WithdrawObservations(Request(), "wing", "", {.batch = 2});
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(rest->changed, 1);
  EXPECT_EQ(List(), (Ids{"1-1=1", "1-2=2"}));
  EXPECT_TRUE(IsError(server_->WithdrawObservations(Request(), "wing", "", {.batch = 2}).status(),
                      absl::StatusCode::kNotFound, {"batch_data_version: 2"}));
  EXPECT_TRUE(IsError(server_->WithdrawObservations(Request(), "wing", "", {.batch = 99}).status(),
                      absl::StatusCode::kNotFound, {"99"}));
}

TEST_F(WithdrawalsTest, CorrectionsKeepTheIdAndTheOldOutput) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2, .3}, {1, 2, 3})).ok());
  const auto answer = Correct({"1-2"}, {20});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->changed, 1);
  EXPECT_EQ(answer->observation_counts, (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(List(), (Ids{"1-1=1", "1-3=3", "1-2=20"}));
  EXPECT_EQ(List({.show_withdrawn = true}), (Ids{"1-1=1", "1-2=2~", "1-3=3", "1-2=20"}));
  ASSERT_TRUE(Correct({"1-2"}, {200}).ok());
  ASSERT_TRUE(Withdraw({"1-2"}).ok());
  EXPECT_EQ(List(), (Ids{"1-1=1", "1-3=3"}));
  EXPECT_TRUE(IsError(Correct({"1-2"}, {5}).status(), absl::StatusCode::kNotFound, {"\"1-2\"", "withdrawn"}));
  const auto list = server_->ListObservations("wing", {.show_withdrawn = true});
  EXPECT_EQ(list->observations.back().inputs(0, 0), .2);
}

TEST_F(WithdrawalsTest, WrongRequestsAreRefused) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2}, {1, 2})).ok());
  const auto bad = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(Withdraw({}).status(), bad, {"run_ids: none"}));
  EXPECT_TRUE(IsError(Withdraw({"1-1", "1-1"}).status(), bad, {"run_ids[1]", "twice"}));
  EXPECT_TRUE(IsError(Withdraw({"1-1", "zz"}).status(), absl::StatusCode::kNotFound, {"run_ids[1]: \"zz\""}));
  EXPECT_TRUE(IsError(Withdraw({"1-3"}).status(), absl::StatusCode::kNotFound, {"1-3"}));
  EXPECT_TRUE(IsError(server_->WithdrawObservations(Request(), "wing", "", {.run_ids = {"1-1"}, .batch = 1}).status(),
                      bad, {"batch_data_version"}));
  EXPECT_TRUE(IsError(Withdraw({"1-1"}, std::string(2000, 'x')).status(), bad, {"reason: 2000 bytes"}));
  EXPECT_TRUE(IsError(Correct({"1-1"}, {1, 2}).status(), bad, {"outputs: 2 values"}));
  EXPECT_TRUE(IsError(Correct({"1-1"}, {std::numeric_limits<double>::quiet_NaN()}).status(), bad, {"outputs"}));
  EXPECT_TRUE(IsError(server_->WithdrawObservations(Request(), "wing", "0-0", {.run_ids = {"1-1"}}).status(),
                      absl::StatusCode::kAborted, {"etag"}));
  EXPECT_EQ(server_->GetModel("wing")->data_version, 1);
}

TEST_F(WithdrawalsTest, TheSameRequestIsReplayed) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2}, {1, 2})).ok());
  const WithdrawQuery query{.run_ids = {"1-1"}};
  const auto first = server_->WithdrawObservations(Request("r1", "b"), "wing", "", query);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto again = server_->WithdrawObservations(Request("r1", "b"), "wing", "", query);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->data_version, first->data_version);
  EXPECT_EQ(again->changed, 1);
}

TEST_F(WithdrawalsTest, ALevelThatLosesAllObservationsMayHaveOtherNoise) {
  ObservationBatch known = Batch(0, {.1}, {1});
  known.noise_variances = Vector{{0.5}};
  ASSERT_TRUE(Add(known).ok());
  ASSERT_TRUE(Withdraw({"1-1"}).ok());
  EXPECT_TRUE(Add(Batch(0, {.2}, {2})).ok());
}

TEST_F(WithdrawalsTest, NoiseThatIsGivenAfterAllRowsWithoutItWereWithdrawnIsUsed) {
  for (const auto kind : {OutputTransformKind::kIdentity, OutputTransformKind::kLog}) {
    const std::string name = kind == OutputTransformKind::kLog ? "log" : "identity";
    ModelSpec spec = SpecOf(1, 1);
    spec.output_transform.kind = kind;
    ASSERT_TRUE(server_->CreateModel(Request(), name, spec).ok());
    ASSERT_TRUE(server_->AddObservations(Request(), name, "", {Batch(0, {.1, .2, .3}, {1, 2, 3})}).ok());
    ASSERT_TRUE(server_->WithdrawObservations(Request(), name, "", {.batch = 1}).ok());
    ObservationBatch known = Batch(0, {.1, .3, .5, .7, .9}, {1, 2, 4, 3, 1.5});
    known.noise_variances = Vector{{.01, .02, .03, .04, .05}};
    ASSERT_TRUE(server_->AddObservations(Request(), name, "", {known}).ok());
    RunFit(server_.service(), name, {.budget_iterations = 10});
    const auto loaded = server_->AcquireRevision(name);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(FittedModel((*loaded)->emulator()).data().levels[0].noise_variance.size(), 5) << name;
  }
}

TEST_F(WithdrawalsTest, AnExportOfMoreHistoryThanObservationsAreAllowedIsImported) {
  ASSERT_TRUE(Add(Batch(0, {.1, .2, .3}, {1, 2, 3})).ok());
  ASSERT_TRUE(Correct({"1-1", "1-2", "1-3"}, {4, 5, 6}).ok());
  const std::string bytes = ExportBytes(server_.service(), "wing");
  const TempDirectory other;
  ModelServiceOptions options;
  options.max_observations = 3;
  Server small(other.path(), options);
  const auto imported = ImportBytes(small.service(), bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->observation_counts[0], 3);
}

// Outputs 0 … 7 and one of 1000, which is wrong.
class WithdrawnFitTest : public WithdrawalsTest {
 protected:
  WithdrawnFitTest() {
    std::vector<double> x, y;
    for (int i = 0; i < 8; ++i) {
      x.push_back(0.12 * i + 0.03 * (i % 3));
      y.push_back(std::sin(5 * x.back()));
    }
    EXPECT_TRUE(Add(Batch(0, x, y)).ok());
    EXPECT_TRUE(Add(Batch(1, {.1, .4, .9}, {std::sin(.5), std::sin(2), std::sin(4.5)})).ok());
    clean_ = server_->GetModel("wing")->data_version;
  }
  int64_t clean_ = 0;
};

TEST_F(WithdrawnFitTest, LaterFitsAreAsIfTheyHadNeverBeenThere) {
  RunFit(server_.service(), "wing");
  const Vector clean = Answers(server_.service(), "wing");
  ASSERT_TRUE(Add(Batch(0, {.5}, {1000}, {"wrong"})).ok());
  RunFit(server_.service(), "wing");
  EXPECT_NE(Answers(server_.service(), "wing"), clean);
  ASSERT_TRUE(Withdraw({"wrong"}).ok());
  EXPECT_EQ(server_->GetModel("wing")->current_revision_withdrawn_count, 1);
  EXPECT_EQ(server_->GetRevision("wing", 2)->withdrawn, 1);
  EXPECT_EQ(server_->GetRevision("wing", 1)->withdrawn, 0);
  RunFit(server_.service(), "wing");
  EXPECT_EQ(Answers(server_.service(), "wing"), clean);
  EXPECT_EQ(server_->GetModel("wing")->current_revision_withdrawn_count, 0);
  EXPECT_EQ(server_->GetRevision("wing", 3)->observation_counts, (std::vector<int64_t>{8, 3}));
}

TEST_F(WithdrawnFitTest, DiagnosisLeavesThemOutAndSaysSo) {
  ASSERT_TRUE(Add(Batch(1, {.6}, {1000}, {"wrong"})).ok());
  RunFit(server_.service(), "wing");
  ASSERT_TRUE(Withdraw({"wrong"}).ok());
  const auto revision = server_->AcquireRevision("wing");
  const auto diagnosis = server_->Diagnose(**revision, GoOn);
  ASSERT_TRUE(diagnosis.ok()) << diagnosis.status();
  EXPECT_EQ(diagnosis->withdrawn, 1);
  EXPECT_EQ(diagnosis->fidelities[1].diagnostics.count, 3);
  EXPECT_EQ(diagnosis->verdict.distinct_count, 3);
  ASSERT_FALSE(diagnosis->verdict.warnings.empty());
  EXPECT_TRUE(absl::StrContains(diagnosis->verdict.warnings.back(), "still knows 1 observation"))
      << diagnosis->verdict.warnings.back();
}

TEST_F(WithdrawnFitTest, ConditioningDropsThem) {
  ASSERT_TRUE(Add(Batch(0, {.5}, {1000}, {"wrong"})).ok());
  RunFit(server_.service(), "wing");
  ASSERT_TRUE(Withdraw({"wrong"}).ok());
  ASSERT_TRUE(Add(Batch(1, {.7}, {std::sin(3.5)}), ObservationUpdate::kCondition).ok());
  const auto revision = server_->GetRevision("wing", 2);
  ASSERT_TRUE(revision.ok()) << revision.status();
  EXPECT_EQ(revision->observation_counts, (std::vector<int64_t>{8, 4}));
  EXPECT_EQ(revision->withdrawn, 0);
}

TEST_F(WithdrawnFitTest, HistoryMovesWithTheModel) {
  ASSERT_TRUE(Add(Batch(0, {.5, .6}, {1000, 7}, {"wrong", "unit"})).ok());
  ASSERT_TRUE(Withdraw({"wrong"}, "typo").ok());
  ASSERT_TRUE(Correct({"unit", "1-1"}, {.7, .1}).ok());
  RunFit(server_.service(), "wing");
  const Ids list = List(), history = List({.show_withdrawn = true});
  const std::string bytes = ExportBytes(server_.service(), "wing");
  const Vector answers = Answers(server_.service(), "wing");
  ASSERT_TRUE(server_->DeleteModel(Request(), "wing", "").ok());
  const auto imported = ImportBytes(server_.service(), bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->withdrawn_count, 3);
  EXPECT_EQ(List(), list);
  EXPECT_EQ(List({.show_withdrawn = true}), history);
  EXPECT_EQ(Answers(server_.service(), "wing"), answers);
  EXPECT_TRUE(server_.store().Check()->empty());
  RunFit(server_.service(), "wing");
  EXPECT_EQ(Answers(server_.service(), "wing"), answers);
}

}  // namespace
}  // namespace fidelio
