// What a server refuses before it costs anything: through real channels, with messages that no honest client sends.
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

class RpcLimitsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new TestServer([](Server::Options& options) {
      options.config.max_message_mib = 1;
      options.config.max_inputs = 5000;
      options.config.max_concurrent_streams = 1000;
      options.config.max_threads = kReservedThreads + 16 + static_cast<int64_t>(FitThreads({}));  // leaves 16 for calls
    });
    server_->MakeFitted("wing");
  }
  static void TearDownTestSuite() { delete server_; }

  static grpc::Status Predict(const v1::PredictRequest& request, grpc::ClientContext* context) {
    v1::PredictResponse answer;
    return server_->stub().Predict(context, request, &answer);
  }
  static grpc::Status Predict(const v1::PredictRequest& request) {
    TestContext context;
    return Predict(request, &context);
  }

  static TestServer* server_;
};

TestServer* RpcLimitsTest::server_ = nullptr;

TEST_F(RpcLimitsTest, AHeaderThatClaimsAGibibyteIsRefusedByItsLength) {
  v1::PredictRequest request = PredictAt("wing", {0.5});
  request.mutable_inputs()->set_rows(1 << 27);
  ExpectBadField(Predict(request), "inputs", "134217728 points, but at most 5000");
  v1::AddObservationsRequest add;
  add.set_model("models/wing");
  add.add_observations()->set_level(0);
  add.mutable_observations(0)->mutable_inputs()->set_rows(0xFFFFFFFF);
  add.mutable_observations(0)->mutable_inputs()->set_cols(0xFFFFFFFF);
  add.mutable_observations(0)->mutable_inputs()->set_f64_le("12345678");
  v1::AddObservationsResponse answer;
  TestContext context;
  ExpectBadField(server_->stub().AddObservations(&context, add, &answer), "observations[0].inputs", "at most 131072");
}

TEST_F(RpcLimitsTest, AnAnswerBeyondTheLimitIsRefusedBeforeTheWork) {
  v1::PredictRequest request = PredictAt("wing", std::vector<double>(5000, 0.5));
  for (int i = 1; i <= 64; ++i) request.mutable_options()->add_quantiles(i / 65.0);
  ExpectBadField(Predict(request), "inputs", "2680000 bytes, but a message has at most 1048576");
  request.mutable_options()->clear_quantiles();
  request.mutable_options()->set_full_covariance(true);
  ExpectBadField(Predict(request), "inputs", "5000 points, but at most 343");
}

TEST_F(RpcLimitsTest, OpenStreamsLeaveThreadsForOtherCalls) {
  std::vector<std::unique_ptr<TestContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReaderWriter<v1::PredictStreamRequest, v1::PredictStreamResponse>>> streams;
  v1::PredictStreamRequest request;
  request.mutable_header()->set_model("models/wing");
  *request.mutable_inputs() = MakeMatrix(1, 1, {0.5});
  int refused = 0, with_reason = 0;
  for (int i = 0; i < 40; ++i) {
    contexts.push_back(std::make_unique<TestContext>());
    streams.push_back(server_->stub().PredictStream(contexts.back().get()));
    streams.back()->Write(request);
    v1::PredictStreamResponse response;
    if (streams.back()->Read(&response)) continue;
    ++refused;
    const grpc::Status status = streams.back()->Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    // Those that come while all threads say no to others are refused by gRPC itself.
    with_reason += status.error_message().find("streams: 8 are open") != std::string::npos;
  }
  EXPECT_EQ(refused, 32);
  EXPECT_GE(with_reason, 1);
  EXPECT_TRUE(IsOk(Predict(PredictAt("wing", {0.5}))));
  for (const auto& context : contexts) context->TryCancel();
}

TEST_F(RpcLimitsTest, CallsAreAnsweredAgainAfterManyStreamsWereReset) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<TestContext>> contexts;
    std::vector<std::unique_ptr<grpc::ClientReaderWriter<v1::PredictStreamRequest, v1::PredictStreamResponse>>> streams;
    for (int i = 0; i < 50; ++i) {
      contexts.push_back(std::make_unique<TestContext>());
      streams.push_back(server_->stub().PredictStream(contexts.back().get()));
      contexts.back()->TryCancel();
    }
    for (const auto& stream : streams) stream->Finish();
  }
  // Until the last of them have left their threads, calls are told to try again.
  grpc::Status status;
  const absl::Time start = absl::Now();
  do {
    status = Predict(PredictAt("wing", {0.5}));
  } while (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED && absl::Now() - start < absl::Seconds(30));
  EXPECT_TRUE(IsOk(status));
}

}  // namespace
}  // namespace fidelio
