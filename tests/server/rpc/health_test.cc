// Health, through real channels, of a server in trouble.
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "gtest/gtest.h"
#include "server/rpc/grpc_limits.h"
#include "tests/bench/http2_client.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

TEST(HealthTest, AServerWhoseWorkersAllWaitIsBusyButHealthy) {
  absl::Notification go_on;
  int64_t workers = 0;
  TestServer server([&](Server::Options& options) {
    options.config.model_cache_mib = 0;  // one model at a time
    options.config.max_threads = kReservedThreads + FitThreads(options.config) + 8;
    workers = WorkerThreads(options.config);
    options.hooks.on_load = [&](const std::string&, int64_t) { go_on.WaitForNotification(); };
  });
  server.MakeFitted("wing");
  server.MakeFitted("tail");  // drives out wing, which the following calls must load
  std::vector<std::thread> callers;
  for (int64_t i = 0; i < workers + 3; ++i) {
    callers.emplace_back([&] {
      TestContext context;
      v1::PredictResponse answer;
      EXPECT_TRUE(IsOk(server.stub().Predict(&context, PredictAt("wing", {0.5}), &answer)));
    });
  }
  while (server.server().calls_under_way() < workers) std::this_thread::yield();

  const auto health = Health::NewStub(server.NewChannel());
  HealthCheckResponse response;
  TestContext context;
  EXPECT_TRUE(IsOk(health->Check(&context, HealthCheckRequest(), &response)));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  go_on.Notify();
  for (std::thread& caller : callers) caller.join();
}

TEST(HealthTest, StreamsThatAreResetBeforeTheirMessageLeaveTheServerHealthy) {
  TestServer server;
  for (int connections = 0; connections < 3; ++connections) {
    const auto hostile = bench::Http2Client::Connect(server.server().port());
    ASSERT_TRUE(hostile.ok()) << hostile.status();
    ASSERT_TRUE((*hostile)->Greet().ok());
    for (int i = 0; i < 100; ++i) {
      const auto stream = (*hostile)->StartCall("/fidelio.v1.Emulator/Predict", {});
      ASSERT_TRUE(stream.ok()) << stream.status();
      ASSERT_TRUE((*hostile)->Reset(*stream).ok());
      (*hostile)->Drain();
    }
  }
  const auto health = Health::NewStub(server.NewChannel());
  HealthCheckResponse response;
  TestContext context;
  EXPECT_TRUE(IsOk(health->Check(&context, HealthCheckRequest(), &response)));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  // Calls of the method that was flooded arrive, too.
  TestContext predict;
  v1::PredictResponse answer;
  EXPECT_EQ(server.stub().Predict(&predict, PredictAt("wing", {0.5}), &answer).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST(HealthTest, AWatchOfAnUnknownServiceSaysSoAndEndsWithItsClient) {
  TestServer server;
  const auto health = Health::NewStub(server.NewChannel());
  HealthCheckRequest request;
  request.set_service("fidelio.v1.Nothing");
  TestContext context;
  const auto watch = health->Watch(&context, request);
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

}  // namespace
}  // namespace fidelio
