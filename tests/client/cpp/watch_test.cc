#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "client/cpp/client.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

constexpr char kFit[] = "models/wing/fits/3";
using Writer = grpc::ServerWriter<v1::WatchFitResponse>;

void Send(Writer& writer, v1::FitState state, double fraction) {
  v1::WatchFitResponse event;
  *event.mutable_fit() = MakeFit(state, fraction);
  writer.Write(event);
}

class WatchTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> Connect(ClientOptions options = {}) {
    options.channel.server = server_.address();
    options.retry.first_delay = absl::Milliseconds(1);
    options.retry.longest_delay = absl::Milliseconds(10);
    return *Client::Connect(options);
  }

  // A stream that tells `fraction` and then hangs until someone cancels it.
  static grpc::Status Hang(grpc::ServerContext& context, Writer& writer, double fraction) {
    Send(writer, v1::FIT_STATE_RUNNING, fraction);
    while (!context.IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  }

  std::atomic<int> streams_ = 0;
  FakeServer server_;
};

TEST_F(WatchTest, TellsEveryEventAndAnswersTheFinalState) {
  server_.emulator().watch_fit = [](grpc::ServerContext&, Writer& writer) {
    Send(writer, v1::FIT_STATE_PENDING, 0);
    Send(writer, v1::FIT_STATE_RUNNING, 0.5);
    Send(writer, v1::FIT_STATE_SUCCEEDED, 1);
    return grpc::Status::OK;
  };
  std::vector<double> fractions;
  const auto fit = Connect()->WatchFit(kFit, [&](const v1::Fit& f) { fractions.push_back(f.progress().fraction()); });
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(fit->state(), v1::FIT_STATE_SUCCEEDED);
  EXPECT_EQ(fit->revision(), "models/wing/revisions/2");
  EXPECT_EQ(fractions, std::vector<double>({0, 0.5, 1}));
}

TEST_F(WatchTest, AFitThatFailedIsAnAnswerNotAnError) {
  server_.emulator().watch_fit = [](grpc::ServerContext&, Writer& writer) {
    Send(writer, v1::FIT_STATE_FAILED, 0.2);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Connect()->WatchFit(kFit, nullptr)->state(), v1::FIT_STATE_FAILED);
}

TEST_F(WatchTest, OutlivesARestartOfTheServer) {
  absl::Notification first_event;
  server_.emulator().watch_fit = [&](grpc::ServerContext& context, Writer& writer) {
    if (++streams_ == 1) return Hang(context, writer, 0.25);
    Send(writer, v1::FIT_STATE_SUCCEEDED, 1);
    return grpc::Status::OK;
  };
  std::thread restarter([&] {
    first_event.WaitForNotification();
    server_.Stop();
    server_.Start();
  });
  const auto fit = Connect()->WatchFit(kFit, [&](const v1::Fit&) {
    if (!first_event.HasBeenNotified()) first_event.Notify();
  });
  restarter.join();
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(fit->state(), v1::FIT_STATE_SUCCEEDED);
  EXPECT_EQ(streams_, 2);
}

TEST_F(WatchTest, AStreamThatEndsTooEarlyIsAskedForAgain) {
  server_.emulator().watch_fit = [&](grpc::ServerContext&, Writer& writer) {
    Send(writer, ++streams_ < 3 ? v1::FIT_STATE_RUNNING : v1::FIT_STATE_CANCELLED, 0.5);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Connect()->WatchFit(kFit, nullptr)->state(), v1::FIT_STATE_CANCELLED);
  EXPECT_EQ(streams_, 3);
}

TEST_F(WatchTest, AServerThatFallsSilentIsAskedAgain) {
  server_.emulator().watch_fit = [&](grpc::ServerContext& context, Writer& writer) {
    if (++streams_ < 3) return Hang(context, writer, 0.5);
    Send(writer, v1::FIT_STATE_SUCCEEDED, 1);
    return grpc::Status::OK;
  };
  ClientOptions options;
  options.watch_renewal = absl::Milliseconds(50);
  EXPECT_EQ(Connect(options)->WatchFit(kFit, nullptr)->state(), v1::FIT_STATE_SUCCEEDED);
  EXPECT_EQ(streams_, 3);
}

TEST_F(WatchTest, OtherErrorsEndIt) {
  server_.emulator().watch_fit = [](grpc::ServerContext&, Writer&) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "models/wing/fits/3: no such fit");
  };
  EXPECT_TRUE(IsError(Connect()->WatchFit(kFit, nullptr).status(), absl::StatusCode::kNotFound, {"no such fit"}));
}

TEST_F(WatchTest, GivesUpOnAServerThatStaysAway) {
  server_.Stop();
  ClientOptions options;
  options.watch_give_up_after = absl::Milliseconds(50);
  EXPECT_TRUE(IsError(Connect(options)->WatchFit(kFit, nullptr).status(), absl::StatusCode::kUnavailable,
                      {server_.address(), "tried"}));
}

TEST_F(WatchTest, WaitsLongerForAServerThatHasToldSomethingThanForOneThatNeverDid) {
  ClientOptions options;
  options.retry.give_up_after = absl::ZeroDuration();
  options.watch_give_up_after = absl::Minutes(1);
  server_.emulator().watch_fit = [&](grpc::ServerContext&, Writer&) {
    ++streams_;
    return Unavailable();
  };
  EXPECT_TRUE(absl::IsUnavailable(Connect(options)->WatchFit(kFit, nullptr).status()));
  EXPECT_EQ(streams_, 1);
  server_.emulator().watch_fit = [&](grpc::ServerContext&, Writer& writer) {
    if (++streams_ == 2) Send(writer, v1::FIT_STATE_RUNNING, 0.5);
    if (streams_ < 6) return Unavailable();
    Send(writer, v1::FIT_STATE_SUCCEEDED, 1);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Connect(options)->WatchFit(kFit, nullptr)->state(), v1::FIT_STATE_SUCCEEDED);
  EXPECT_EQ(streams_, 6);
}

TEST_F(WatchTest, ADeadlineEndsIt) {
  server_.emulator().watch_fit = [](grpc::ServerContext& context, Writer& writer) {
    return Hang(context, writer, 0.1);
  };
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(Connect()->WatchFit(kFit, nullptr, {.timeout = absl::Milliseconds(50)}).status()));
}

}  // namespace
}  // namespace fidelio::client
