#include "server/rpc/call_loop.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "grpcpp/alarm.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "server/rpc/completion.h"

namespace fidelio {
namespace {

// Runs a function in a thread of a loop.
class Task final : public Completion {
 public:
  Task(CallLoop& loop, std::function<void()> function) : function_(std::move(function)) {
    alarm_.Set(loop.queue(), gpr_inf_past(GPR_CLOCK_MONOTONIC), Tag());
  }
  void Complete(bool /*ok*/) override { function_(); }

 private:
  const std::function<void()> function_;
  grpc::Alarm alarm_;
};

std::unique_ptr<CallLoop> MakeLoop() { return std::make_unique<CallLoop>(grpc::ServerBuilder().AddCompletionQueue()); }

TEST(CallLoopTest, AThreadThatIsHeldUpIsHelpedByAnotherThatLeavesLater) {
  const auto loop = MakeLoop();
  loop->Start(/*max_threads=*/2);
  EXPECT_EQ(loop->readers(), 1);
  absl::Notification held, go_on, helped;
  const Task first(*loop, [&] {
    held.Notify();
    go_on.WaitForNotification();
  });
  held.WaitForNotification();
  const Task second(*loop, [&] { helped.Notify(); });
  EXPECT_TRUE(helped.WaitForNotificationWithTimeout(absl::Seconds(30)));
  EXPECT_EQ(loop->readers(), 2);
  go_on.Notify();
  while (loop->readers() > 1) std::this_thread::yield();
  loop->Stop();
}

TEST(CallLoopTest, AThreadThatComputesForLongYieldsToOthersAndIsReplaced) {
  const int normal = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
  const auto loop = MakeLoop();
  loop->Start(/*max_threads=*/2);
  struct Round {
    std::atomic<pid_t> thread = 0;
    std::atomic<bool> go_on = false;
    absl::Notification begun, helped;
    int at_first = -1;
    std::unique_ptr<Task> first, second;
  };
  // More often than there are threads: none of those that are left behind is used again.
  std::vector<Round> rounds(4);
  for (Round& round : rounds) {
    round.first = std::make_unique<Task>(*loop, [&round] {
      round.thread.store(gettid());
      round.at_first = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
      round.begun.Notify();
      while (!round.go_on.load()) {
      }
    });
    round.begun.WaitForNotification();
    EXPECT_EQ(round.at_first, normal);
    round.second = std::make_unique<Task>(*loop, [&round] { round.helped.Notify(); });
    EXPECT_TRUE(round.helped.WaitForNotificationWithTimeout(absl::Seconds(30)));
    const absl::Time deadline = absl::Now() + absl::Seconds(30);
    const auto priority = [&] { return getpriority(PRIO_PROCESS, static_cast<id_t>(round.thread.load())); };
    while (priority() == normal && absl::Now() < deadline) std::this_thread::yield();
    EXPECT_GT(priority(), normal);  // a higher number is a lower priority
    round.go_on.store(true);
    while (loop->readers() > 1) std::this_thread::yield();
  }
  loop->Stop();
}

TEST(CallLoopTest, StopWaitsForCallsAndLetsNoneBegin) {
  const auto loop = MakeLoop();
  loop->Start(/*max_threads=*/1);
  ASSERT_TRUE(loop->Enter());
  absl::Notification stopped;
  std::thread stop([&] {
    loop->Stop();
    stopped.Notify();
  });
  while (loop->Enter()) loop->Leave();  // until Stop has begun
  EXPECT_FALSE(stopped.HasBeenNotified());
  loop->Leave();
  stop.join();
  EXPECT_FALSE(loop->Enter());
}

}  // namespace
}  // namespace fidelio
