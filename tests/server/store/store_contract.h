// The contract of every Store, as a typed test suite. A Harness makes stores of one kind:
//   struct Harness { absl::StatusOr<std::unique_ptr<Store>> Open(absl::Time now); };
// Open opens the same truth each time; before it, the store of the last call is destroyed. `now` is what its clock says.
#ifndef FIDELIO_TESTS_SERVER_STORE_STORE_CONTRACT_H_
#define FIDELIO_TESTS_SERVER_STORE_STORE_CONTRACT_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/store/sha256.h"
#include "server/store/store.h"
#include "tests/server/store/store_testing.h"
#include "tests/support/status.h"

namespace fidelio {

template <typename Harness>
class StoreContractTest : public ::testing::Test {
 protected:
  StoreContractTest() { Reopen(); }

  void Reopen(absl::Time now = absl::FromUnixSeconds(1000)) {
    store_.reset();
    auto store = harness_.Open(now);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  absl::Status Write(absl::FunctionRef<absl::Status(StoreTransaction&)> body) { return store_->Write(body); }

  Harness harness_;
  std::unique_ptr<Store> store_;
};

TYPED_TEST_SUITE_P(StoreContractTest);

TYPED_TEST_P(StoreContractTest, ModelComesBackAsItWasCreated) {
  const std::string spec("a\0spec", 6);
  ASSERT_TRUE(CreateModel(*this->store_, "wing", spec).ok());
  for (int round = 0; round < 2; ++round) {
    const auto model = this->store_->GetModel("wing");
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->name, "wing");
    EXPECT_EQ(model->etag, 1);
    EXPECT_EQ(model->spec, spec);
    EXPECT_EQ(model->data_version, 0);
    EXPECT_EQ(model->current_revision, 0);
    EXPECT_EQ(model->created, absl::FromUnixSeconds(1000));
    EXPECT_EQ(model->damage, "");
    this->Reopen();
  }
}

TYPED_TEST_P(StoreContractTest, NamesAreUnique) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  EXPECT_TRUE(IsError(CreateModel(*this->store_, "wing"), absl::StatusCode::kAlreadyExists, {"\"wing\""}));
  EXPECT_TRUE(IsError(CreateModel(*this->store_, ""), absl::StatusCode::kInvalidArgument, {"model"}));
}

TYPED_TEST_P(StoreContractTest, UnknownModelsAreNotFound) {
  EXPECT_TRUE(IsError(this->store_->GetModel("wing").status(), absl::StatusCode::kNotFound, {"\"wing\""}));
  EXPECT_TRUE(IsError(this->store_->ReadObservations("wing", {}).status(), absl::StatusCode::kNotFound, {"\"wing\""}));
  EXPECT_TRUE(IsError(this->store_->GetFit("wing", 1).status(), absl::StatusCode::kNotFound, {"\"wing\""}));
  EXPECT_TRUE(IsError(this->store_->ReadCheckpoint("wing", 1).status(), absl::StatusCode::kNotFound, {"\"wing\""}));
  EXPECT_TRUE(IsError(Append(*this->store_, "wing", 1), absl::StatusCode::kNotFound, {"\"wing\""}));
  EXPECT_TRUE(IsError(DeleteModel(*this->store_, "wing"), absl::StatusCode::kNotFound, {"\"wing\""}));
}

TYPED_TEST_P(StoreContractTest, ListsModelsByNameInPages) {
  for (const char* name : {"b", "ab", "a", "c", "aa"}) ASSERT_TRUE(CreateModel(*this->store_, name).ok());
  const auto names = [](const absl::StatusOr<ModelPage>& page) {
    std::vector<std::string> result;
    for (const ModelRecord& model : page->models) result.push_back(model.name);
    return result;
  };
  auto page = this->store_->ListModels("", "", 2);
  EXPECT_EQ(names(page), (std::vector<std::string>{"a", "aa"}));
  EXPECT_EQ(page->next, "aa");
  page = this->store_->ListModels("", page->next, 3);
  EXPECT_EQ(names(page), (std::vector<std::string>{"ab", "b", "c"}));
  EXPECT_EQ(page->next, "");
  EXPECT_EQ(names(this->store_->ListModels("a", "", 9)), (std::vector<std::string>{"a", "aa", "ab"}));
  EXPECT_EQ(names(this->store_->ListModels("a", "a", 1)), (std::vector<std::string>{"aa"}));
  EXPECT_EQ(names(this->store_->ListModels("b", "a", 9)), (std::vector<std::string>{"b"}));
  EXPECT_TRUE(IsError(this->store_->ListModels("", "", 0).status(), absl::StatusCode::kInvalidArgument, {"limit: 0"}));
}

TYPED_TEST_P(StoreContractTest, TransactionSeesItsOwnChanges) {
  ASSERT_TRUE(CreateModel(*this->store_, "a").ok());
  ASSERT_TRUE(CreateModel(*this->store_, "c").ok());
  EXPECT_TRUE(this->Write([](StoreTransaction& t) {
                    EXPECT_TRUE(t.DeleteModel("a", 0).ok());
                    EXPECT_TRUE(t.CreateModel("b", "").ok());
                    EXPECT_TRUE(t.CreateModel("d", "").ok());
                    EXPECT_EQ(t.GetModel("a").status().code(), absl::StatusCode::kNotFound);
                    const auto page = t.ListModels("", "", 2);
                    EXPECT_EQ(page->models.size(), 2u);
                    EXPECT_EQ(page->models[0].name, "b");
                    EXPECT_EQ(page->models[1].name, "c");
                    EXPECT_EQ(page->next, "c");
                    EXPECT_TRUE(t.CreateFit("b", "").ok());
                    EXPECT_EQ(t.UnfinishedFits().size(), 1u);
                    return absl::OkStatus();
                  })
                  .ok());
}

TYPED_TEST_P(StoreContractTest, FailedTransactionLeavesNothingBehind) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  ASSERT_TRUE(Append(*this->store_, "wing", 1).ok());
  const absl::Status status = this->Write([](StoreTransaction& t) {
    EXPECT_TRUE(t.CreateModel("tail", "").ok());
    EXPECT_TRUE(t.AppendObservations("wing", Batch(2)).ok());
    EXPECT_TRUE(t.CreateFit("wing", "").ok());
    EXPECT_TRUE(t.AddRevision("wing", "", "bytes").ok());
    EXPECT_TRUE(t.RecordRequest("wing", {"me", "1"}, "digest", "answer").ok());
    return absl::AbortedError("no");
  });
  EXPECT_TRUE(IsError(status, absl::StatusCode::kAborted, {"no"}));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(this->store_->GetModel("tail").status().code(), absl::StatusCode::kNotFound);
    const auto wing = this->store_->GetModel("wing");
    EXPECT_EQ(wing->data_version, 1);
    EXPECT_EQ(wing->fits, 0);
    EXPECT_EQ(wing->revisions, 0);
    EXPECT_EQ(this->store_->FindRequest("wing", {"me", "1"}).value(), std::nullopt);
    EXPECT_EQ(this->store_->ReadObservations("wing", {})->blocks.size(), 1u);
    this->Reopen();
  }
  EXPECT_TRUE(Append(*this->store_, "wing", 2).ok());
}

TYPED_TEST_P(StoreContractTest, EtagGuardsChangesAndGrowsWithThem) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  ASSERT_TRUE(this->Write([](StoreTransaction& t) { return t.UpdateModel("wing", 1, "new").status(); }).ok());
  EXPECT_EQ(this->store_->GetModel("wing")->etag, 2);
  EXPECT_EQ(this->store_->GetModel("wing")->spec, "new");
  EXPECT_TRUE(IsError(this->Write([](StoreTransaction& t) { return t.UpdateModel("wing", 1, "x").status(); }),
                      absl::StatusCode::kAborted, {"etag: 1", "has 2"}));
  EXPECT_TRUE(IsError(this->Write([](StoreTransaction& t) { return t.DeleteModel("wing", 7); }),
                      absl::StatusCode::kAborted, {"etag: 7"}));
  ASSERT_TRUE(Append(*this->store_, "wing", 1).ok());
  EXPECT_EQ(this->store_->GetModel("wing")->etag, 3);
  ASSERT_TRUE(this->Write([](StoreTransaction& t) { return t.CreateFit("wing", "").status(); }).ok());
  EXPECT_EQ(this->store_->GetModel("wing")->etag, 3);
}

TYPED_TEST_P(StoreContractTest, ObservationsComeBackBitForBit) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  ObservationBlock low{.level = 0, .rows = 2, .cols = 2, .x = {0.1, -0.0, 1e-310, 3}, .y = {1e300, -7}};
  ObservationBlock high{.level = 2, .rows = 1, .cols = 2, .x = {1, 2}, .y = {3}, .noise = {0.25}};
  ASSERT_TRUE(this->Write([&](StoreTransaction& t) {
                    const auto version = t.AppendObservations("wing", {low, high});
                    EXPECT_EQ(version.value(), 1);
                    return t.AppendObservations("wing", {high}).status();
                  })
                  .ok());
  this->Reopen();
  EXPECT_EQ(this->store_->GetModel("wing")->observations, (std::vector<int64_t>{2, 0, 2}));
  EXPECT_EQ(this->store_->GetModel("wing")->data_version, 2);
  const auto page = this->store_->ReadObservations("wing", {});
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->blocks.size(), 3u);
  EXPECT_TRUE(SameBlock(page->blocks[0].block, low));
  EXPECT_TRUE(SameBlock(page->blocks[1].block, high));
  EXPECT_TRUE(SameBlock(page->blocks[2].block, high));
  EXPECT_EQ(page->blocks[1].data_version, 1);
  EXPECT_EQ(page->blocks[1].part, 1);
  EXPECT_EQ(page->blocks[2].data_version, 2);
  EXPECT_EQ(page->blocks[2].created, absl::FromUnixSeconds(1000));
  EXPECT_FALSE(page->next.has_value());
}

TYPED_TEST_P(StoreContractTest, WithdrawnRowsAndIdsComeBack) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  const ObservationBlock low{
      .level = 0, .rows = 3, .cols = 1, .x = {1, 2, 3}, .y = {4, 5, 6}, .run_ids = {"a", std::string(64, 'b'), "c"}};
  const ObservationBlock right{.level = 0, .rows = 1, .cols = 1, .x = {2}, .y = {50}, .run_ids = {"b"}};
  const WithdrawnRows wrong{.corrected = true, .rows = {{1, 0, 0, 1, 1}}, .reason = "unit"};
  const WithdrawnRows gone{.rows = {{1, 0, 0, 0, 1}, {2, 1, 0, 0, 1}}};
  ASSERT_TRUE(this->Write([&](StoreTransaction& t) {
                    EXPECT_EQ(t.AppendObservations("wing", {low}).value(), 1);
                    EXPECT_EQ(t.WithdrawObservations("wing", wrong, {right}).value(), 2);
                    return t.WithdrawObservations("wing", gone, {}).status();
                  })
                  .ok());
  this->Reopen();
  EXPECT_EQ(this->store_->GetModel("wing")->observations, (std::vector<int64_t>{1}));
  EXPECT_EQ(this->store_->GetModel("wing")->data_version, 3);
  const auto page = this->store_->ReadObservations("wing", {});
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->blocks.size(), 4u);
  EXPECT_EQ(page->blocks[0].block.run_ids, low.run_ids);
  ASSERT_TRUE(page->blocks[1].withdrawn.has_value());
  EXPECT_TRUE(page->blocks[1].withdrawn->corrected);
  EXPECT_EQ(page->blocks[1].withdrawn->reason, "unit");
  EXPECT_EQ(page->blocks[1].block.rows, 0);
  EXPECT_EQ(page->blocks[2].block.run_ids, right.run_ids);
  EXPECT_EQ(page->blocks[2].first_row, 0);
  ASSERT_TRUE(page->blocks[3].withdrawn.has_value());
  EXPECT_FALSE(page->blocks[3].withdrawn->corrected);
  const RowRange& range = page->blocks[3].withdrawn->rows.at(1);
  EXPECT_EQ(std::make_tuple(range.data_version, range.part, range.level, range.first, range.count),
            std::make_tuple(int64_t{2}, 1, 0, int64_t{0}, int64_t{1}));
  // Pages of one part each, so that none is lost between two.
  ObservationQuery query{.max_points = 1};
  size_t parts = 0;
  for (bool more = true; more; ++parts) {
    const auto part = this->store_->ReadObservations("wing", query);
    ASSERT_EQ(part->blocks.size(), 1u);
    more = part->next.has_value();
    if (more) query.from = *part->next;
  }
  EXPECT_EQ(parts, 4u);
  const auto findings = this->store_->Check();
  EXPECT_TRUE(findings.ok() && findings->empty());
  const auto refused = [&](const WithdrawnRows& rows) {
    return this->Write([&](StoreTransaction& t) { return t.WithdrawObservations("wing", rows, {}).status(); });
  };
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(refused({}), kInvalid, {"0 ranges"}));
  EXPECT_TRUE(IsError(refused({.rows = {{9, 0, 0, 0, 1}}}), kInvalid, {"version 9"}));
  EXPECT_TRUE(IsError(refused({.rows = {{1, 0, 3, 0, 1}}}), kInvalid, {"level 3"}));
  EXPECT_TRUE(IsError(refused({.rows = {{1, 0, 0, 0, 2}}}), kInvalid, {"not all in use"}));
  EXPECT_TRUE(IsError(refused({.rows = {{1, 0, 0, 2, 1}}, .reason = std::string(1025, 'x')}), kInvalid, {"reason"}));
}

TYPED_TEST_P(StoreContractTest, ReadsObservationsInPagesAndRanges) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(Append(*this->store_, "wing", i, /*parts=*/2).ok());
  ObservationQuery query{.max_points = 3};  // blocks have 2 points each
  std::vector<std::pair<int64_t, int>> seen;
  while (true) {
    const auto page = this->store_->ReadObservations("wing", query);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(page->blocks.size(), 2u);
    for (const StoredBlock& b : page->blocks) seen.emplace_back(b.data_version, b.part);
    if (!page->next) break;
    query.from = *page->next;
  }
  std::vector<std::pair<int64_t, int>> all;
  for (int64_t v = 1; v <= 5; ++v) all.insert(all.end(), {{v, 0}, {v, 1}});
  EXPECT_EQ(seen, all);

  const auto range = this->store_->ReadObservations("wing", {.from = {2, 1}, .last_version = 3});
  ASSERT_EQ(range->blocks.size(), 3u);
  EXPECT_EQ(range->blocks.front().data_version, 2);
  EXPECT_EQ(range->blocks.front().part, 1);
  EXPECT_EQ(range->blocks.back().data_version, 3);
  EXPECT_TRUE(this->store_->ReadObservations("wing", {.from = {6, 0}})->blocks.empty());
}

TYPED_TEST_P(StoreContractTest, RefusesBatchesOfWrongShape) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  const auto append = [this](std::vector<ObservationBlock> batch) {
    return this->Write([&](StoreTransaction& t) { return t.AppendObservations("wing", batch).status(); });
  };
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(append({}), kInvalid, {"batch: 0 blocks"}));
  EXPECT_TRUE(IsError(append({{.level = -1, .rows = 1, .cols = 1, .x = {1}, .y = {1}}}), kInvalid, {"level: -1"}));
  EXPECT_TRUE(IsError(append({{.level = 0, .rows = 0, .cols = 1}}), kInvalid, {"batch[0]: 0 × 1"}));
  EXPECT_TRUE(IsError(append({{.level = 0, .rows = 2, .cols = 1, .x = {1, 2}, .y = {1}}}), kInvalid, {"2, 1 and 0"}));
  EXPECT_TRUE(
      IsError(append({{.level = 0, .rows = int64_t{1} << 40, .cols = int64_t{1} << 40}}), kInvalid, {"batch[0]"}));
  EXPECT_EQ(this->store_->GetModel("wing")->data_version, 0);
}

TYPED_TEST_P(StoreContractTest, FitLivesThroughItsStates) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  ASSERT_TRUE(Append(*this->store_, "wing", 1).ok());
  FitRecord fit;
  ASSERT_TRUE(this->Write([&](StoreTransaction& t) {
                    fit = t.CreateFit("wing", "options").value();
                    return t.CreateFit("wing", "second").status();
                  })
                  .ok());
  EXPECT_EQ(fit.id, 1);
  EXPECT_EQ(fit.state, FitState::kPending);
  EXPECT_EQ(fit.data_version, 1);
  EXPECT_EQ(fit.started, absl::InfinitePast());
  const auto update = [this](const FitChange& change) {
    return this->Write([&](StoreTransaction& t) { return t.UpdateFit("wing", 1, change).status(); });
  };
  EXPECT_TRUE(IsError(update({.state = FitState::kSucceeded}), absl::StatusCode::kFailedPrecondition, {"PENDING"}));
  ASSERT_TRUE(update({.state = FitState::kRunning, .data_version = 0, .progress = "half", .saved_state = "s1"}).ok());
  ASSERT_TRUE(update({.saved_state = "state two"}).ok());
  EXPECT_TRUE(IsError(update({.data_version = 1}), absl::StatusCode::kFailedPrecondition, {"RUNNING"}));
  this->Reopen(absl::FromUnixSeconds(2000));
  fit = this->store_->GetFit("wing", 1).value();
  EXPECT_EQ(fit.state, FitState::kRunning);
  EXPECT_EQ(fit.options, "options");
  EXPECT_EQ(fit.progress, "half");
  EXPECT_EQ(fit.data_version, 0);
  EXPECT_TRUE(fit.has_saved_state);
  EXPECT_EQ(fit.started, absl::FromUnixSeconds(1000));
  EXPECT_EQ(fit.finished, absl::InfiniteFuture());
  EXPECT_EQ(this->store_->ReadFitState("wing", 1).value(), "state two");
  ASSERT_EQ(this->store_->UnfinishedFits().size(), 2u);
  EXPECT_EQ(this->store_->UnfinishedFits()[0].model, "wing");
  EXPECT_EQ(this->store_->UnfinishedFits()[0].id, 1);

  EXPECT_TRUE(IsError(update({.state = FitState::kSucceeded, .revision = 1}), absl::StatusCode::kInvalidArgument,
                      {"revision: 1"}));
  ASSERT_TRUE(update({.state = FitState::kFailed, .error = "no data"}).ok());
  EXPECT_TRUE(IsError(update({.progress = "x"}), absl::StatusCode::kFailedPrecondition, {"FAILED"}));
  fit = this->store_->GetFit("wing", 1).value();
  EXPECT_EQ(fit.error, "no data");
  EXPECT_EQ(fit.finished, absl::FromUnixSeconds(2000));
  EXPECT_EQ(this->store_->ReadFitState("wing", 1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(this->store_->UnfinishedFits().size(), 1u);
  EXPECT_EQ(this->store_->GetFit("wing", 3).status().code(), absl::StatusCode::kNotFound);

  const auto page = this->store_->ListFits("wing", 0, 1);
  ASSERT_EQ(page->fits.size(), 1u);
  EXPECT_EQ(page->next, 1);
  const auto rest = this->store_->ListFits("wing", page->next, 5);
  ASSERT_EQ(rest->fits.size(), 1u);
  EXPECT_EQ(rest->fits[0].id, 2);
  EXPECT_EQ(rest->next, 0);
}

TYPED_TEST_P(StoreContractTest, RevisionsAreImmutableAndTheCurrentOneMoves) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  const std::string checkpoint(100000, 'c');
  ASSERT_TRUE(this->Write([&](StoreTransaction& t) {
                    EXPECT_EQ(t.AddRevision("wing", "meta", checkpoint)->id, 1);
                    EXPECT_EQ(t.AddRevision("wing", "", "")->id, 2);
                    EXPECT_EQ(t.ReadCheckpoint("wing", 1).value(), checkpoint);
                    return t.SetCurrentRevision("wing", 0, 2).status();
                  })
                  .ok());
  this->Reopen();
  const ModelRecord model = this->store_->GetModel("wing").value();
  EXPECT_EQ(model.current_revision, 2);
  EXPECT_EQ(model.revisions, 2);
  EXPECT_EQ(model.etag, 2);
  const RevisionRecord revision = this->store_->GetRevision("wing", 1).value();
  EXPECT_EQ(revision.metadata, "meta");
  EXPECT_EQ(revision.checkpoint_bytes, 100000);
  EXPECT_EQ(revision.sha256, Sha256(checkpoint));
  EXPECT_EQ(this->store_->ReadCheckpoint("wing", 1).value(), checkpoint);
  EXPECT_EQ(this->store_->ReadCheckpoint("wing", 2).value(), "");
  EXPECT_EQ(this->store_->ListRevisions("wing", 1, 5)->revisions.size(), 1u);

  const auto set = [this](int64_t etag, int64_t id) {
    return this->Write([&](StoreTransaction& t) { return t.SetCurrentRevision("wing", etag, id).status(); });
  };
  ASSERT_TRUE(set(2, 1).ok());
  ASSERT_TRUE(set(0, 1).ok());
  EXPECT_EQ(this->store_->GetModel("wing")->etag, 3);
  EXPECT_TRUE(IsError(set(2, 2), absl::StatusCode::kAborted, {"etag: 2"}));
  EXPECT_TRUE(IsError(set(0, 3), absl::StatusCode::kNotFound, {"revision 3"}));
}

TYPED_TEST_P(StoreContractTest, ADeletedRevisionIsGoneAndItsNumberIsNotUsedAgain) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  ASSERT_TRUE(this->Write([](StoreTransaction& t) {
                    for (const char* bytes : {"one", "two", "three", "four"}) {
                      EXPECT_TRUE(t.AddRevision("wing", "meta", bytes).ok());
                    }
                    return t.SetCurrentRevision("wing", 0, 2).status();
                  })
                  .ok());
  const auto erase = [this](int64_t etag, int64_t id) {
    return this->Write([&](StoreTransaction& t) { return t.DeleteRevision("wing", etag, id); });
  };
  EXPECT_TRUE(IsError(erase(0, 2), absl::StatusCode::kFailedPrecondition, {"revision 2", "current"}));
  EXPECT_TRUE(IsError(erase(9, 1), absl::StatusCode::kAborted, {"etag: 9"}));
  EXPECT_TRUE(IsError(erase(0, 5), absl::StatusCode::kNotFound, {"revision 5"}));
  ASSERT_TRUE(erase(2, 1).ok());
  ASSERT_TRUE(erase(0, 4).ok());
  EXPECT_TRUE(IsError(erase(0, 4), absl::StatusCode::kNotFound, {"revision 4", "deleted"}));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(this->store_->GetModel("wing")->etag, 2);
    EXPECT_EQ(this->store_->GetModel("wing")->revisions, 4);
    EXPECT_EQ(this->store_->GetRevision("wing", 1).status().code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(this->store_->ReadCheckpoint("wing", 4).status().code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(this->store_->RevisionIds("wing").value(), (std::vector<int64_t>{2, 3}));
    const auto page = this->store_->ListRevisions("wing", 0, 2);
    ASSERT_EQ(page->revisions.size(), 1u);
    EXPECT_EQ(page->revisions[0].id, 2);
    EXPECT_EQ(page->next, 2);
    const auto rest = this->store_->ListRevisions("wing", 2, 9);
    ASSERT_EQ(rest->revisions.size(), 1u);
    EXPECT_EQ(rest->revisions[0].id, 3);
    EXPECT_EQ(rest->next, 0);
    EXPECT_EQ(this->store_->ReadCheckpoint("wing", 3).value(), "three");
    const auto findings = this->store_->Check();
    EXPECT_TRUE(findings->empty()) << findings->front().text;
    EXPECT_TRUE(
        absl::IsNotFound(this->Write([](StoreTransaction& t) { return t.SetCurrentRevision("wing", 0, 1).status(); })));
    this->Reopen();
  }
  ASSERT_TRUE(this->Write([](StoreTransaction& t) {
                    EXPECT_EQ(t.AddRevision("wing", "meta", "five")->id, 5);
                    return absl::OkStatus();
                  })
                  .ok());
  ASSERT_TRUE(DeleteModel(*this->store_, "wing").ok());
  EXPECT_TRUE(this->store_->Check()->empty());
}

TYPED_TEST_P(StoreContractTest, RequestIsReplayedAlsoAfterReopening) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  const RequestKey key{"me", "id-1"};
  ASSERT_TRUE(this->Write([&](StoreTransaction& t) {
                    EXPECT_EQ(t.FindRequest("wing", key).value(), std::nullopt);
                    return t.RecordRequest("wing", key, "digest", "answer");
                  })
                  .ok());
  this->Reopen();
  const auto record = this->store_->FindRequest("wing", key).value();
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->digest, "digest");
  EXPECT_EQ(record->answer, "answer");
  EXPECT_FALSE(record->erased);
  EXPECT_EQ(record->time, absl::FromUnixSeconds(1000));
  // The key is unique across models, and includes the principal.
  EXPECT_TRUE(this->store_->FindRequest("tail", key).value().has_value());
  EXPECT_FALSE(this->store_->FindRequest("wing", {"m", "eid-1"}).value().has_value());
  EXPECT_TRUE(IsError(this->Write([&](StoreTransaction& t) { return t.RecordRequest("wing", key, "", ""); }),
                      absl::StatusCode::kAlreadyExists, {"id-1"}));
  EXPECT_EQ(this->Write([&](StoreTransaction& t) {
                  return t.RecordRequest("tail", {"a", "b"}, "", "");
                })
                .code(),
            absl::StatusCode::kNotFound);
}

TYPED_TEST_P(StoreContractTest, DeletedModelLeavesItsRequestsWithoutAnswers) {
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  ASSERT_TRUE(Fill(*this->store_, "wing").ok());
  ASSERT_TRUE(this->Write([](StoreTransaction& t) {
                    return t.RecordRequest("wing", {"me", "1"}, "d1", "secret");
                  })
                  .ok());
  ASSERT_TRUE(this->Write([](StoreTransaction& t) {
                    EXPECT_TRUE(t.DeleteModel("wing", 0).ok());
                    return t.RecordRequest("wing", {"me", "2"}, "d2", "deleted");
                  })
                  .ok());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(this->store_->GetModel("wing").status().code(), absl::StatusCode::kNotFound);
    const auto first = this->store_->FindRequest("wing", {"me", "1"}).value();
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(first->erased);
    EXPECT_EQ(first->digest, "d1");
    EXPECT_EQ(first->answer, "");
    const auto second = this->store_->FindRequest("wing", {"me", "2"}).value();
    ASSERT_TRUE(second.has_value());
    EXPECT_FALSE(second->erased);
    EXPECT_EQ(second->answer, "deleted");
    this->Reopen();
  }
  ASSERT_TRUE(CreateModel(*this->store_, "wing").ok());
  EXPECT_EQ(this->store_->GetModel("wing")->fits, 0);
  EXPECT_TRUE(this->store_->ReadObservations("wing", {})->blocks.empty());
  EXPECT_TRUE(this->store_->Check()->empty());
}

TYPED_TEST_P(StoreContractTest, PrunesRequestsByAgeAndCount) {
  const auto record = [this](const std::string& model, const std::string& id) {
    return this->Write([&](StoreTransaction& t) { return t.RecordRequest(model, {"me", id}, "", ""); });
  };
  const auto prune = [this](absl::Time before, int64_t keep) {
    int64_t count = -1;
    EXPECT_TRUE(this->Write([&](StoreTransaction& t) {
                      count = t.PruneRequests(before, keep).value();
                      return absl::OkStatus();
                    })
                    .ok());
    return count;
  };
  const auto has = [this](const std::string& id) { return this->store_->FindRequest("a", {"me", id})->has_value(); };
  ASSERT_TRUE(CreateModel(*this->store_, "a").ok());
  ASSERT_TRUE(CreateModel(*this->store_, "b").ok());
  ASSERT_TRUE(record("a", "1").ok());
  this->Reopen(absl::FromUnixSeconds(2000));
  ASSERT_TRUE(record("b", "2").ok());
  this->Reopen(absl::FromUnixSeconds(3000));
  ASSERT_TRUE(record("a", "3").ok());
  ASSERT_TRUE(record("b", "4").ok());
  EXPECT_EQ(prune(absl::FromUnixSeconds(1001), 100), 1);
  EXPECT_FALSE(has("1"));
  EXPECT_EQ(prune(absl::InfinitePast(), 2), 1);
  EXPECT_FALSE(has("2"));
  this->Reopen();
  EXPECT_TRUE(has("3"));
  EXPECT_TRUE(has("4"));
  EXPECT_TRUE(this->store_->Check()->empty());
  EXPECT_EQ(prune(absl::InfiniteFuture(), 100), 2);
  ASSERT_TRUE(record("a", "1").ok());
  EXPECT_TRUE(this->store_->Check()->empty());
}

TYPED_TEST_P(StoreContractTest, CheckFindsNothingInAHealthyStore) {
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(CreateModel(*this->store_, name).ok());
    ASSERT_TRUE(Fill(*this->store_, name).ok());
  }
  ASSERT_TRUE(DeleteModel(*this->store_, "b").ok());
  const auto findings = this->store_->Check();
  ASSERT_TRUE(findings.ok()) << findings.status();
  EXPECT_TRUE(findings->empty()) << findings->front().model << ": " << findings->front().text;
}

TYPED_TEST_P(StoreContractTest, ThreadsShareAStore) {
  constexpr int kThreads = 4, kBatches = 10;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      const std::string name = absl::StrCat("model-", i);
      EXPECT_TRUE(CreateModel(*this->store_, name).ok());
      for (int b = 1; b <= kBatches; ++b) {
        EXPECT_TRUE(Append(*this->store_, name, b).ok());
        EXPECT_EQ(this->store_->GetModel(name)->data_version, b);
        EXPECT_TRUE(this->store_->ListModels("", "", 10).ok());
        EXPECT_EQ(this->store_->ReadObservations(name, {})->blocks.size(), static_cast<size_t>(b));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(this->store_->ListModels("", "", 10)->models.size(), static_cast<size_t>(kThreads));
  EXPECT_TRUE(this->store_->Check()->empty());
}

REGISTER_TYPED_TEST_SUITE_P(StoreContractTest, ModelComesBackAsItWasCreated, NamesAreUnique, UnknownModelsAreNotFound,
                            ListsModelsByNameInPages, TransactionSeesItsOwnChanges,
                            FailedTransactionLeavesNothingBehind, EtagGuardsChangesAndGrowsWithThem,
                            ObservationsComeBackBitForBit, WithdrawnRowsAndIdsComeBack,
                            ReadsObservationsInPagesAndRanges, RefusesBatchesOfWrongShape, FitLivesThroughItsStates,
                            RevisionsAreImmutableAndTheCurrentOneMoves,
                            ADeletedRevisionIsGoneAndItsNumberIsNotUsedAgain, RequestIsReplayedAlsoAfterReopening,
                            DeletedModelLeavesItsRequestsWithoutAnswers, PrunesRequestsByAgeAndCount,
                            CheckFindsNothingInAHealthyStore, ThreadsShareAStore);

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SERVER_STORE_STORE_CONTRACT_H_
