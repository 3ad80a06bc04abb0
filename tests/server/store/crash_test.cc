// A writer is killed with SIGKILL between and within commits: what it acknowledged is there, once, and nothing is half done.
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "gtest/gtest.h"
#include "server/store/sqlite_store.h"
#include "tests/server/store/store_testing.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

// Batch `i`, with a fit and a request of its own, in one transaction.
absl::Status AppendWithRequest(Store& store, int i) {
  return store.Write([i](StoreTransaction& t) -> absl::Status {
    const RequestKey key{"writer", absl::StrCat(i)};
    FIDELIO_ASSIGN_OR_RETURN(const auto earlier, t.FindRequest("wing", key));
    if (earlier) return absl::OkStatus();
    FIDELIO_RETURN_IF_ERROR(t.AppendObservations("wing", Batch(i, 3)).status());
    FIDELIO_RETURN_IF_ERROR(t.CreateFit("wing", std::string(5000, 'o')).status());
    return t.RecordRequest("wing", key, "", "");
  });
}

// Appends batches from `first` on for ever, and writes a byte to `acknowledge` after each.
[[noreturn]] void WriteForEver(const std::string& directory, int first, int acknowledge) {
  auto store = OpenAt(directory);
  if (!store.ok()) _exit(1);
  for (int i = first;; ++i) {
    if (!AppendWithRequest(**store, i).ok()) _exit(2);
    if (write(acknowledge, "a", 1) != 1) _exit(3);
  }
}

TEST(CrashTest, EveryAcknowledgedBatchIsThereAfterSigkill) {
  TempDirectory directory;
  std::mt19937 random(5);
  {
    auto store = OpenAt(directory.path());
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE(CreateModel(**store, "wing").ok());
  }
  int acknowledged = 0;
  for (int round = 0; round < 10; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      WriteForEver(directory.path(), acknowledged + 1, ends[1]);
    }
    close(ends[1]);
    const int wanted = acknowledged + 1 + static_cast<int>(random() % 8);
    char byte = 0;
    while (acknowledged < wanted && read(ends[0], &byte, 1) == 1) ++acknowledged;
    // The next commit is under way, at a random point of it.
    for (auto spin = random() % 2000; spin > 0; --spin) sched_yield();
    kill(child, SIGKILL);
    int state = 0;
    ASSERT_EQ(waitpid(child, &state, 0), child);
    ASSERT_TRUE(WIFSIGNALED(state)) << "the writer failed with " << WEXITSTATUS(state);
    while (read(ends[0], &byte, 1) == 1) ++acknowledged;
    close(ends[0]);

    auto store = OpenAt(directory.path());
    ASSERT_TRUE(store.ok()) << store.status();
    const int64_t version = (*store)->GetModel("wing")->data_version;
    EXPECT_GE(version, acknowledged);
    EXPECT_LE(version, acknowledged + 1);
    // A retry of the one in doubt does it once.
    ASSERT_TRUE(AppendWithRequest(**store, acknowledged + 1).ok());
    ++acknowledged;
    const ModelRecord model = (*store)->GetModel("wing").value();
    EXPECT_EQ(model.data_version, acknowledged);
    EXPECT_EQ(model.fits, acknowledged);
    const auto page = (*store)->ReadObservations("wing", {});
    ASSERT_TRUE(page.ok()) << page.status();
    ASSERT_EQ(page->blocks.size(), static_cast<size_t>(3 * acknowledged));
    for (const StoredBlock& stored : page->blocks) {
      EXPECT_TRUE(SameBlock(stored.block, Batch(static_cast<int>(stored.data_version), 3)[stored.part]));
    }
    EXPECT_EQ((*store)->UnfinishedFits().size(), static_cast<size_t>(acknowledged));
    EXPECT_TRUE((*store)->Check()->empty());
  }
}

}  // namespace
}  // namespace fidelio
