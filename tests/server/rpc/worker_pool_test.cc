#include "server/rpc/worker_pool.h"

#include <atomic>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(WorkerPoolTest, RunsAsManyTasksAtOnceAsItMayHaveThreads) {
  WorkerPool pool({.max_threads = 3, .max_queue = 0});
  absl::BlockingCounter all_at_once(3);
  absl::Notification go_on;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(pool.Post([&] {
      all_at_once.DecrementCount();
      go_on.WaitForNotification();
    }));
  }
  all_at_once.Wait();
  EXPECT_FALSE(pool.Post([] { FAIL() << "was refused"; }));
  go_on.Notify();
}

TEST(WorkerPoolTest, RefusesTasksBeyondItsQueueAndRunsAllOthersBeforeItEnds) {
  std::atomic<int> done = 0;
  {
    absl::Notification started, go_on;
    WorkerPool pool({.max_threads = 1, .max_queue = 5});
    ASSERT_TRUE(pool.Post([&] {
      started.Notify();
      go_on.WaitForNotification();
      ++done;
    }));
    started.WaitForNotification();
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(pool.Post([&] { ++done; })) << i;
    EXPECT_FALSE(pool.Post([&] { ++done; }));
    go_on.Notify();
  }
  EXPECT_EQ(done, 6);
}

}  // namespace
}  // namespace fidelio
