#include "core/base/parallel.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

class ParallelForTest : public testing::TestWithParam<int> {};

TEST_P(ParallelForTest, RunsEveryIndexOnce) {
  for (const int n : {0, 1, 2, 3, 100}) {
    std::vector<int> runs(n);
    ParallelFor(n, GetParam(), [&](int i) { ++runs[i]; });
    EXPECT_EQ(runs, std::vector<int>(n, 1));
  }
}

TEST_P(ParallelForTest, IsDoneWhenItReturns) {
  std::atomic<int> done = 0;
  ParallelFor(1000, GetParam(), [&](int) { ++done; });
  EXPECT_EQ(done.load(), 1000);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelForTest, testing::Values(0, 1, 2, 7));

TEST(ParallelTest, OneThreadRunsInOrderOnTheCaller) {
  std::vector<int> order;
  const std::thread::id caller = std::this_thread::get_id();
  ParallelFor(5, 1, [&](int i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(ParallelTest, TwoThreadsRunTwoBodiesAtOnce) {
  // Each body waits for the other; run one after the other, the first would give up.
  std::atomic<int> arrived = 0;
  bool met[2] = {};
  ParallelFor(2, 2, [&](int i) {
    ++arrived;
    for (int64_t patience = 0; patience < 20'000'000 && arrived < 2; ++patience) std::this_thread::yield();
    met[i] = arrived == 2;
  });
  EXPECT_TRUE(met[0] && met[1]);
}

TEST(ParallelTest, BodiesMayCallItAgain) {
  for (const bool pooled : {false, true}) {
    std::optional<ThreadPool> pool;
    if (pooled) pool.emplace();
    std::atomic<int> runs = 0;
    ParallelFor(4, 4, [&](int) { ParallelFor(5, 3, [&](int) { ParallelFor(2, 2, [&](int) { ++runs; }); }); });
    EXPECT_EQ(runs, 40) << pooled;
  }
}

// The threads, besides the caller, of two bodies that wait for each other.
std::thread::id Helper() {
  std::atomic<int> arrived = 0;
  std::thread::id ids[2];
  ParallelFor(2, 2, [&](int i) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    ids[i] = std::this_thread::get_id();
  });
  return ids[0] == std::this_thread::get_id() ? ids[1] : ids[0];
}

TEST(ThreadPoolTest, RunsEveryIndexOnceInEveryCall) {
  const ThreadPool pool;
  for (int call = 0; call < 2000; ++call) {
    const int n = call % 7;
    std::vector<int> runs(n);
    ParallelFor(n, call % 5, [&](int i) { ++runs[i]; });
    ASSERT_EQ(runs, std::vector<int>(n, 1)) << call;
  }
}

TEST(ThreadPoolTest, CallsShareTheirThreads) {
  const ThreadPool pool;
  const std::thread::id first = Helper();
  for (int call = 0; call < 100; ++call) EXPECT_EQ(Helper(), first);
}

TEST(ThreadPoolTest, APoolWithinAnotherUsesItsThreadsAndLeavesThemRunning) {
  const ThreadPool outer;
  const std::thread::id first = Helper();
  {
    const ThreadPool inner;
    EXPECT_EQ(Helper(), first);
  }
  EXPECT_EQ(Helper(), first);
}

TEST(ThreadPoolTest, EveryThreadHasItsOwn) {
  const ThreadPool pool;
  const std::thread::id first = Helper();
  std::thread other([&] {
    const ThreadPool own;
    EXPECT_NE(Helper(), first);
  });
  other.join();
}

// So a fit of low priority never works on the threads of another call, nor another call on its threads.
TEST(ThreadPoolTest, ThreadsHaveThePriorityOfTheThreadThatNeedsThem) {
  std::thread low([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 7), 0);
    const ThreadPool pool;
    std::atomic<int> arrived = 0;
    int nice[2] = {};
    ParallelFor(2, 2, [&](int i) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
      nice[i] = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
    });
    EXPECT_EQ(nice[0], 7);
    EXPECT_EQ(nice[1], 7);
  });
  low.join();
}

TEST(ResolveThreadsTest, ZeroMeansAllCoresAndOthersAreKept) {
  EXPECT_GE(ResolveThreads(0), 1);
  EXPECT_EQ(ResolveThreads(1), 1);
  EXPECT_EQ(ResolveThreads(3), 3);
}

}  // namespace
}  // namespace fidelio
