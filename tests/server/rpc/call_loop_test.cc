#include "server/rpc/call_loop.h"

#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
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

TEST(CallLoopTest, AThreadThatLooksForTheNextCallFindsItAndEndsWithTheLoop) {
  const auto loop = MakeLoop();
  loop->Start(/*max_threads=*/2);
  // Each begins when the one before has ended, as the calls of one client do: soon, but not at once.
  constexpr int kCalls = 2000;
  int calls = 0;
  std::vector<std::unique_ptr<Task>> tasks;  // they are gone after the loop
  for (int i = 0; i < kCalls; ++i) {
    for (const absl::Time end = absl::Now() + absl::Microseconds(50); absl::Now() < end;) std::this_thread::yield();
    const auto done = std::make_shared<absl::Notification>();
    tasks.push_back(std::make_unique<Task>(*loop, [&calls, done] {
      ++calls;
      done->Notify();
    }));
    ASSERT_TRUE(done->WaitForNotificationWithTimeout(absl::Seconds(30)));
  }
  EXPECT_EQ(calls, kCalls);
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
