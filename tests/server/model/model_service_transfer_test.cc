// Models as files.
#include <string>
#include <vector>

#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class TransferTest : public ::testing::Test {
 protected:
  TransferTest() : from_(source_.path()), to_(target_.path()) {
    ModelSpec spec = SpecOf(1, 2);
    spec.description = "lift";
    spec.input_box = InputBox{Vector{{0}}, Vector{{1}}};
    EXPECT_TRUE(from_->CreateModel(Request(), "wing", spec).ok());
    EXPECT_TRUE(from_->AddObservations(Request(), "wing", "", Batches({8, 4}, 1)).ok());
    EXPECT_TRUE(from_->AddObservations(Request(), "wing", "", Batches({1, 1}, 1, 5)).ok());
    RunFit(from_.service(), "wing", {.seed = 1});
    RunFit(from_.service(), "wing", {.budget_iterations = 50, .seed = 2});
    EXPECT_TRUE(from_->RollbackModel(Request(), "wing", "", 1).ok());
  }

  TempDirectory source_, target_;
  Server from_, to_;
};

TEST_F(TransferTest, AnotherServerPredictsTheSameBits) {
  const auto imported = ImportBytes(to_.service(), ExportBytes(from_.service(), "wing"));
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->name, "wing");
  EXPECT_EQ(imported->spec.description, "lift");
  EXPECT_EQ(imported->data_version, 2);
  EXPECT_EQ(imported->observation_counts, (std::vector<int64_t>{9, 5}));
  EXPECT_EQ(imported->current_revision, 1);
  EXPECT_EQ(Answers(to_.service(), "wing"), Answers(from_.service(), "wing"));
  const auto ours = from_->GetRevision("wing", 1), theirs = to_->GetRevision("wing", 1);
  EXPECT_EQ(theirs->sha256, ours->sha256);
  EXPECT_EQ(theirs->elbo, ours->elbo);
  EXPECT_EQ(theirs->fit, 0);  // fits stay behind
  EXPECT_EQ(to_->ListRevisions("wing", 0, 10)->revisions.size(), 1u);
  // And it lives on: the same fit gives the same bits there, too.
  EXPECT_EQ(RunFit(to_.service(), "wing", {.seed = 1}).revision, 2);
  EXPECT_EQ(Answers(to_.service(), "wing"), Answers(from_.service(), "wing"));
}

TEST_F(TransferTest, AllRevisionsKeepTheirNumbers) {
  const auto imported = ImportBytes(to_.service(), ExportBytes(from_.service(), "wing", true), "copy");
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->name, "copy");
  EXPECT_EQ(imported->current_revision, 1);
  for (const int64_t id : {1, 2}) {
    EXPECT_EQ(Answers(to_.service(), "copy", id), Answers(from_.service(), "wing", id));
  }
}

TEST_F(TransferTest, AModelWithoutDataTravelsToo) {
  ASSERT_TRUE(from_->CreateModel(Request(), "empty", SpecOf(3, 1)).ok());
  const auto imported = ImportBytes(to_.service(), ExportBytes(from_.service(), "empty"));
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->current_revision, 0);
}

TEST_F(TransferTest, ADamagedFileCreatesNothing) {
  const std::string good = ExportBytes(from_.service(), "wing");
  for (size_t at = 0; at < good.size(); at += good.size() / 60) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    const absl::Status status = ImportBytes(to_.service(), bad).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << at << ": " << status;
    EXPECT_EQ(status.message().substr(0, 6), "chunk:") << status;
  }
  for (size_t size = 0; size < good.size(); size += good.size() / 20) {
    EXPECT_TRUE(IsError(ImportBytes(to_.service(), good.substr(0, size)).status(), absl::StatusCode::kInvalidArgument,
                        {"not complete"}));
  }
  EXPECT_TRUE(IsError(ImportBytes(to_.service(), good + "x").status(), absl::StatusCode::kInvalidArgument,
                      {"after its last part"}));
  EXPECT_TRUE(IsError(ImportBytes(to_.service(), std::string(100, 'x')).status(), absl::StatusCode::kInvalidArgument,
                      {"not an exported model"}));
  EXPECT_EQ(to_->ListModels("", "", 10)->models.size(), 0u);
}

TEST_F(TransferTest, PartsInAnotherOrderAreNotTheFile) {
  const std::string good = ExportBytes(from_.service(), "wing");
  // The observations of batch 1 are two parts of different sizes; swapped, every checksum still holds.
  std::vector<std::string> parts;
  for (size_t at = 0; at < good.size();) {
    uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(good[at + 16 + i]);
    parts.push_back(good.substr(at, 28 + length));
    at += 28 + length;
  }
  std::swap(parts[1], parts[2]);
  std::string swapped;
  for (const std::string& part : parts) swapped += part;
  EXPECT_TRUE(IsError(ImportBytes(to_.service(), swapped).status(), absl::StatusCode::kInvalidArgument, {"order"}));
}

TEST_F(TransferTest, NamesThatAreTakenAndQuotasHold) {
  const std::string bytes = ExportBytes(from_.service(), "wing");
  ASSERT_TRUE(ImportBytes(to_.service(), bytes).ok());
  EXPECT_TRUE(IsError(ImportBytes(to_.service(), bytes).status(), absl::StatusCode::kAlreadyExists, {"models/wing"}));
  EXPECT_TRUE(IsError(ImportBytes(to_.service(), bytes, "Bad").status(), absl::StatusCode::kInvalidArgument,
                      {"header.model_id: \"Bad\""}));
  MutationContext bob = Request("", "", "bob");
  bob.caller.quotas = {.max_observations = 13};
  EXPECT_TRUE(IsError(ImportBytes(to_.service(), bytes, "bobs", bob).status(), absl::StatusCode::kResourceExhausted,
                      {"token:bob", "14"}));
  bob.caller.quotas = {.max_models = 0};
  EXPECT_TRUE(IsError(ImportBytes(to_.service(), bytes, "bobs", bob).status(), absl::StatusCode::kResourceExhausted,
                      {"token:bob", "0 are allowed"}));
}

TEST_F(TransferTest, ARetryWithTheSameFileIsReplayedAndWithAnotherRefused) {
  const std::string bytes = ExportBytes(from_.service(), "wing");
  MutationContext context = Request("import", "header", "bob");
  context.caller.quotas = {.max_models = 1, .max_observations = 14};
  ASSERT_TRUE(ImportBytes(to_.service(), bytes, "copy", context).ok());
  EXPECT_TRUE(ImportBytes(to_.service(), bytes, "copy", context).ok());
  EXPECT_TRUE(IsError(ImportBytes(to_.service(), ExportBytes(from_.service(), "wing", true), "copy", context).status(),
                      absl::StatusCode::kInvalidArgument, {"request_id"}));
}

TEST_F(TransferTest, DeletingTheModelEndsItsExport) {
  auto out = from_->ExportModel("wing", false);
  ASSERT_TRUE(out.ok());
  ASSERT_TRUE((*out)->Next(100).ok());
  ASSERT_TRUE(from_->DeleteModel(Request(), "wing", "").ok());
  absl::StatusOr<std::string> chunk;
  do {
    chunk = (*out)->Next(100);
  } while (chunk.ok() && !chunk->empty());
  EXPECT_TRUE(IsError(chunk.status(), absl::StatusCode::kAborted, {"models/wing", "deleted"}));
}

TEST_F(TransferTest, TooLargeAFileIsRefused) {
  ModelServiceOptions options;
  options.max_import_bytes = 2000;
  const TempDirectory directory;
  Server small(directory.path(), options);
  EXPECT_TRUE(IsError(ImportBytes(small.service(), ExportBytes(from_.service(), "wing")).status(),
                      absl::StatusCode::kResourceExhausted, {"more than 2000 bytes"}));
}

}  // namespace
}  // namespace fidelio
