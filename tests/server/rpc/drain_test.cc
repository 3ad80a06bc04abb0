// What clients see while a server stops, through real channels.
#include <atomic>
#include <thread>

#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class DrainTest : public ::testing::Test {
 protected:
  DrainTest() : server_([this](Server::Options& options) { options.hooks = gate_.Hooks(); }) {
    server_.Create("wing");
    server_.Observe("wing");
  }
  ~DrainTest() override { gate_.Open(); }

  FitGate gate_;
  TestServer server_;
};

TEST_F(DrainTest, NewCallsAreUnavailableHealthIsNotServingAndStreamsEnd) {
  gate_.Close();
  v1::Fit fit;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().Fit(&context, ShortFit("wing"), &fit)));
  }
  gate_.AwaitHeld();
  v1::WatchFitRequest request;
  request.set_name(fit.name());
  TestContext watch_context;
  const auto watch = server_.stub().WatchFit(&watch_context, request);
  v1::WatchFitResponse event;
  ASSERT_TRUE(watch->Read(&event));

  const auto health = Health::NewStub(server_.NewChannel());
  TestContext health_context;
  const auto health_watch = health->Watch(&health_context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(health_watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);

  // The fit that is held keeps the server from being done.
  std::thread stop([&] { EXPECT_TRUE(server_.server().Stop(absl::Seconds(30))); });
  ASSERT_TRUE(health_watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  {
    v1::ServerInfo info;
    TestContext context;
    const auto retry = ExpectError<google::rpc::RetryInfo>(server_.stub().GetServerInfo(&context, {}, &info),
                                                           grpc::StatusCode::UNAVAILABLE, "shutting down");
    EXPECT_EQ(retry.retry_delay().seconds(), 20);
  }
  gate_.Open();
  while (watch->Read(&event)) {
  }
  const grpc::Status end = watch->Finish();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAVAILABLE) << end.error_message();
  EXPECT_NE(event.fit().state(), v1::FIT_STATE_FAILED);
  stop.join();
}

TEST_F(DrainTest, AnIdleStreamDoesNotHoldTheServer) {
  server_.FitAndWait("wing");
  TestContext context;
  const auto stream = server_.stub().PredictStream(&context);
  v1::PredictStreamRequest request;
  request.mutable_header()->set_model("models/wing");
  *request.mutable_inputs() = MakeMatrix(1, 1, {0.5});
  ASSERT_TRUE(stream->Write(request));
  v1::PredictStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));
  const absl::Time start = absl::Now();
  EXPECT_TRUE(server_.server().Stop(absl::Seconds(60)));
  EXPECT_LT(absl::Now() - start, absl::Seconds(30));
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_FALSE(stream->Finish().ok());
}

TEST_F(DrainTest, CallsUnderWayComeToTheirEnd) {
  server_.FitAndWait("wing");
  while (server_.server().calls_under_way() > 0) std::this_thread::yield();  // what the fit was watched by
  const v1::PredictRequest request = PredictAt("wing", std::vector<double>(100'000, 0.5));
  std::atomic<bool> over = false;
  grpc::Status status;
  v1::PredictResponse answer;
  std::thread caller([&] {
    TestContext context;
    status = server_.stub().Predict(&context, request, &answer);
    over = true;
  });
  // Until the call is in, or over: either way it must succeed.
  while (server_.server().calls_under_way() == 0 && !over) std::this_thread::yield();
  EXPECT_TRUE(server_.server().Stop(absl::Seconds(60)));
  caller.join();
  EXPECT_TRUE(IsOk(status));
}

TEST_F(DrainTest, ADrainedFitGoesOnAfterTheRestartToTheSameRevision) {
  TempDirectory kept;
  const auto predict = [](TestServer& server) {
    v1::PredictResponse answer;
    TestContext context;
    EXPECT_TRUE(IsOk(server.stub().Predict(&context, PredictAt("wing", {0.1, 0.7}), &answer)));
    return answer.prediction().SerializeAsString();
  };
  // To convergence: a budget ends a fit wherever it has come.
  const auto fit = [](TestServer& server) {
    v1::FitRequest request;
    request.set_model("models/wing");
    v1::Fit started;
    TestContext context;
    EXPECT_TRUE(IsOk(server.stub().Fit(&context, request, &started)));
  };
  const auto watch = [](TestServer& server) {
    v1::WatchFitRequest request;
    request.set_name("models/wing/fits/1");
    TestContext context;
    const auto reader = server.stub().WatchFit(&context, request);
    v1::WatchFitResponse event;
    while (reader->Read(&event)) {
    }
    EXPECT_TRUE(IsOk(reader->Finish()));
    EXPECT_EQ(event.fit().state(), v1::FIT_STATE_SUCCEEDED);
  };
  std::string uninterrupted;
  {
    TestServer server;
    server.Create("wing");
    server.Observe("wing");
    fit(server);
    watch(server);
    uninterrupted = predict(server);
  }
  {
    FitGate gate;
    TestServer server([&](Server::Options& options) {
      options.config.data_dir = kept / "data";
      options.hooks = gate.Hooks();
    });
    server.Create("wing");
    server.Observe("wing");
    gate.Close();
    fit(server);
    gate.AwaitHeld();
    std::thread stop([&] { EXPECT_TRUE(server.server().Stop(absl::Seconds(60))); });
    gate.Open();
    stop.join();
  }
  TestServer server([&](Server::Options& options) { options.config.data_dir = kept / "data"; });
  watch(server);
  EXPECT_EQ(predict(server), uninterrupted);
}

}  // namespace
}  // namespace fidelio
