// Full and failing disks (FORMAT.md, "Failures").
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/store/schema.h"
#include "server/store/sqlite_store.h"
#include "tests/server/store/fault_vfs.h"
#include "tests/server/store/store_testing.h"
#include "tests/support/status.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

class DiskFaultTest : public ::testing::Test {
 protected:
  DiskFaultTest() {
    vfs_.skip_syncs = true;
    Open();
    EXPECT_TRUE(CreateModel(*store_, "wing").ok());
    EXPECT_TRUE(Append(*store_, "wing", 1).ok());
  }

  void Open() {
    store_.reset();
    auto store = OpenSqliteStore({.directory = directory_.path(),
                                  .on_fatal = [this](const absl::Status& status) { fatal_.push_back(status); },
                                  .clock = [] { return absl::FromUnixSeconds(1000); },
                                  .vfs = vfs_.name()});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  // A transaction of many pages; all or nothing of it must happen.
  absl::Status BigWrite() {
    return store_->Write([](StoreTransaction& t) {
      const absl::Status status = t.AddRevision("wing", "", std::string(20000, 'c')).status();
      if (!status.ok()) return status;
      return t.AppendObservations("wing", Batch(2, 4)).status();
    });
  }

  TempDirectory directory_;
  FaultVfs vfs_;
  std::vector<absl::Status> fatal_;
  std::unique_ptr<Store> store_;
};

TEST_F(DiskFaultTest, FullDiskRefusesWritesUntilThereIsSpace) {
  // The disk fills up at the first write of the transaction, at the second, …, until it is large enough.
  int64_t batches = 1, refused = 0;
  for (int64_t space = 0;; ++space) {
    vfs_.growths_until_full = space;
    const absl::Status status = BigWrite();
    const std::string readable = Everything(*store_, "wing").value();
    vfs_.growths_until_full = -1;
    if (!status.ok()) {
      ++refused;
      EXPECT_TRUE(IsError(status, absl::StatusCode::kResourceExhausted, {"no space left", directory_.path()}));
    } else {
      ++batches;
    }
    EXPECT_EQ(store_->GetModel("wing")->data_version, batches) << space;
    EXPECT_EQ(store_->GetModel("wing")->revisions, batches - 1) << space;
    Open();
    EXPECT_EQ(Everything(*store_, "wing").value(), readable);
    EXPECT_TRUE(store_->Check()->empty());
    if (status.ok()) break;
  }
  EXPECT_GT(refused, 5);
  EXPECT_TRUE(BigWrite().ok());
  EXPECT_TRUE(fatal_.empty());
}

TEST_F(DiskFaultTest, FailedSyncIsFatalAndNeverRetried) {
  // The transaction's first sync fails, or its second, …, until it needs no more.
  for (int64_t good = 0;; ++good) {
    const int64_t before = store_->GetModel("wing")->data_version;
    fatal_.clear();
    vfs_.syncs_until_error = good;
    const absl::Status status = BigWrite();
    const int64_t syncs = vfs_.syncs;
    if (status.ok()) {
      EXPECT_GE(good, 3);  // journal, database, journal
      break;
    }
    EXPECT_TRUE(IsError(status, absl::StatusCode::kUnavailable, {"unknown", directory_.path()}));
    EXPECT_EQ(fatal_.size(), 1u);
    EXPECT_TRUE(absl::IsUnavailable(BigWrite()));
    EXPECT_TRUE(absl::IsUnavailable(store_->ReadObservations("wing", {}).status()));
    EXPECT_EQ(vfs_.syncs, syncs);
    EXPECT_EQ(fatal_.size(), 1u);
    EXPECT_EQ(store_->GetModel("wing")->data_version, before);
    // A new process finds one of the two states, whole.
    vfs_.syncs_until_error = -1;
    Open();
    const ModelRecord model = store_->GetModel("wing").value();
    EXPECT_TRUE(model.data_version == before || model.data_version == before + 1);
    EXPECT_EQ(model.revisions, model.data_version - 1);
    EXPECT_TRUE(store_->Check()->empty());
  }
}

TEST_F(DiskFaultTest, FailedWriteIsFatal) {
  vfs_.writes_until_error = 2;
  EXPECT_TRUE(IsError(BigWrite(), absl::StatusCode::kUnavailable, {"Input/output error"}));
  EXPECT_EQ(fatal_.size(), 1u);
  vfs_.writes_until_error = -1;
  Open();
  EXPECT_EQ(store_->GetModel("wing")->data_version, 1);
  EXPECT_TRUE(BigWrite().ok());
}

TEST_F(DiskFaultTest, AFailureOfUnknownCauseIsNotTakenForAFullDisk) {
  // The disk is full, which is known; then a write fails without a reason.
  vfs_.growths_until_full = 0;
  EXPECT_TRUE(absl::IsResourceExhausted(BigWrite()));
  vfs_.growths_until_full = -1;
  errno = ENOSPC;
  vfs_.writes_until_error = 0;
  vfs_.write_errno = 0;
  const absl::Status status = BigWrite();
  EXPECT_TRUE(IsError(status, absl::StatusCode::kUnavailable, {"unknown", directory_.path()}));
  EXPECT_FALSE(absl::StrContains(status.message(), "Success")) << status;
  EXPECT_EQ(fatal_.size(), 1u);
}

// Runs in a process of its own, whose files can't grow beyond a limit. Returns 0 when all is as it should be.
int FillUpToTheLimit(const std::string& directory) {
  signal(SIGXFSZ, SIG_IGN);
  auto store = OpenAt(directory);
  if (!store.ok()) return 1;
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t hard = limit.rlim_cur;
  limit.rlim_cur = std::filesystem::file_size(directory + "/" + kDatabaseFile) + 200000;
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  const auto write = [&] {
    return (*store)->Write(
        [](StoreTransaction& t) { return t.AddRevision("wing", "", std::string(30000, 'r')).status(); });
  };
  int64_t written = 0;
  absl::Status status;
  while ((status = write()).ok()) ++written;
  if (!absl::IsResourceExhausted(status)) return 3;
  if (!absl::IsResourceExhausted(write())) return 4;
  if (written < 2 || (*store)->GetModel("wing")->revisions != written) return 5;
  if (!(*store)->ReadCheckpoint("wing", written).ok()) return 6;
  limit.rlim_cur = hard;
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 7;
  if (!write().ok()) return 8;
  return (*store)->GetModel("wing")->revisions == written + 1 ? 0 : 9;
}

TEST_F(DiskFaultTest, FileSizeLimitOfTheSystemCountsAsFull) {
  store_.reset();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(FillUpToTheLimit(directory_.path()));
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFEXITED(state));
  EXPECT_EQ(WEXITSTATUS(state), 0);
  Open();
  EXPECT_GE(store_->GetModel("wing")->revisions, 3);
  EXPECT_TRUE(store_->Check()->empty());
}

}  // namespace
}  // namespace fidelio
