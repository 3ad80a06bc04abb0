#include "server/rpc/task_thread.h"

#include <vector>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(TaskThreadTest, RunsAllTasksInTheirOrderBeforeItEnds) {
  std::vector<int> done;
  {
    TaskThread thread;
    for (int i = 0; i < 100; ++i) {
      thread.Post([&done, &thread, i] {
        done.push_back(i);
        if (i == 99) thread.Post([&done] { done.push_back(100); });
      });
    }
  }
  ASSERT_EQ(done.size(), 101u);
  for (int i = 0; i <= 100; ++i) EXPECT_EQ(done[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace fidelio
