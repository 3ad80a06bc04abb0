#include "core/base/parallel.h"

#include <atomic>
#include <cstdint>
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

TEST(ResolveThreadsTest, ZeroMeansAllCoresAndOthersAreKept) {
  EXPECT_GE(ResolveThreads(0), 1);
  EXPECT_EQ(ResolveThreads(1), 1);
  EXPECT_EQ(ResolveThreads(3), 3);
}

}  // namespace
}  // namespace fidelio
