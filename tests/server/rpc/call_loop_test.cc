#include "server/rpc/call_loop.h"

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
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
