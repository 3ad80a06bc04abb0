// Every row of the table of errors (proto/fidelio/v1/emulator.proto) through a real channel: code, message and details. Three
// rows are tested where the rest of their world is: UNAUTHENTICATED and PERMISSION_DENIED in auth_calls_test.cc, UNAVAILABLE in
// drain_test.cc, and RESOURCE_EXHAUSTED of a full disk in tests/e2e/disk_full_test.cc.
#include <atomic>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "server/auth/digest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

using google::rpc::ErrorInfo;
using google::rpc::PreconditionFailure;
using google::rpc::QuotaFailure;
using google::rpc::ResourceInfo;
using google::rpc::RetryInfo;
using grpc::StatusCode;

class ErrorTableTest : public ::testing::Test {
 protected:
  ErrorTableTest() : server_([this](Server::Options& options) { options.hooks = gate_.Hooks(); }) {}
  ~ErrorTableTest() override { gate_.Open(); }

  grpc::Status Predict(const v1::PredictRequest& request) {
    TestContext context;
    return server_.stub().Predict(&context, request, &prediction_);
  }

  grpc::Status Fit(const v1::FitRequest& request) {
    TestContext context;
    return server_.stub().Fit(&context, request, &fit_);
  }

  FitGate gate_;
  TestServer server_;
  v1::PredictResponse prediction_;
  v1::Fit fit_;
};

TEST_F(ErrorTableTest, ABadShapeIsNamedWithItsFieldValueAndRule) {
  server_.Create("wing");
  v1::AddObservationsRequest request;
  request.set_model("models/wing");
  for (int i = 0; i < 2; ++i) {
    v1::ObservationBatch* batch = request.add_observations();
    batch->set_level(0);
    *batch->mutable_inputs() = MakeMatrix(2, 1, {0, 1});
    *batch->mutable_outputs() = MakeMatrix(2, 1, {0, 1});
  }
  const auto add = [&](const v1::Matrix& inputs, const v1::Matrix& outputs) {
    v1::AddObservationsRequest changed = request;
    *changed.mutable_observations(1)->mutable_inputs() = inputs;
    *changed.mutable_observations(1)->mutable_outputs() = outputs;
    v1::AddObservationsResponse answer;
    TestContext context;
    return server_.stub().AddObservations(&context, changed, &answer);
  };
  const v1::Matrix two = MakeMatrix(2, 1, {0, 1});
  ExpectBadField(add(MakeMatrix(2, 3, {1, 2, 3, 4, 5, 6}), two), "observations[1].inputs",
                 "3 columns, but model \"wing\" has input dimension 1");
  v1::Matrix claims = two;
  claims.set_rows(5);
  ExpectBadField(add(claims, two), "observations[1].inputs.f64_le", "16 bytes, but 5 × 1 doubles take 40");
  ExpectBadField(add(two, MakeMatrix(1, 1, {1})), "observations[1].outputs", "1");
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  ExpectBadField(add(two, MakeMatrix(2, 1, {0, nan})), "observations[1].outputs",
                 "element [1, 0] is nan, but must be finite");
  ExpectBadField(add(MakeMatrix(2, 1, {-infinity, 0}), two), "observations[1].inputs",
                 "element [0, 0] is -inf, but must be finite");
}

TEST_F(ErrorTableTest, ABadLevelIsNamedWithItsFieldValueAndRule) {
  server_.MakeFitted("wing");
  v1::PredictRequest request = PredictAt("wing", {0});
  request.mutable_options()->set_level(2);
  ExpectBadField(Predict(request), "options.level", "2, but model \"wing\" has 2 fidelities: want 0 to 1");
}

TEST_F(ErrorTableTest, ABadNameIsNamedWithItsFieldValueAndRule) {
  ExpectBadField(Predict(PredictAt("Wing", {0})), "model", "\"models/Wing\" is not models/{model} with ");
  v1::GetFitRequest get;
  get.set_name("models/wing/fits/0");
  TestContext context;
  ExpectBadField(server_.stub().GetFit(&context, get, &fit_), "name",
                 "\"models/wing/fits/0\" is not models/{model}/fits/{fit} with ");
}

TEST_F(ErrorTableTest, AnUnknownModelFitOrRevisionIsNotFound) {
  const grpc::Status model = Predict(PredictAt("wing", {0}));
  ResourceInfo info = ExpectError<ResourceInfo>(model, StatusCode::NOT_FOUND, "models/wing: no such model");
  EXPECT_EQ(info.resource_type(), "model");
  EXPECT_EQ(info.resource_name(), "models/wing");

  server_.Create("wing");
  v1::GetFitRequest get;
  get.set_name("models/wing/fits/3");
  TestContext context;
  info = ExpectError<ResourceInfo>(server_.stub().GetFit(&context, get, &fit_), StatusCode::NOT_FOUND,
                                   "models/wing/fits/3: no such fit");
  EXPECT_EQ(info.resource_type(), "fit");

  v1::PredictRequest request = PredictAt("wing", {0});
  request.set_revision("models/wing/revisions/9");
  info =
      ExpectError<ResourceInfo>(Predict(request), StatusCode::NOT_FOUND, "models/wing/revisions/9: no such revision");
  EXPECT_EQ(info.resource_type(), "revision");
  EXPECT_EQ(info.resource_name(), "models/wing/revisions/9");

  v1::WatchFitRequest watch;
  watch.set_name("models/wing/fits/3");
  TestContext watch_context;
  const auto reader = server_.stub().WatchFit(&watch_context, watch);
  v1::WatchFitResponse event;
  EXPECT_FALSE(reader->Read(&event));
  ExpectError<ResourceInfo>(reader->Finish(), StatusCode::NOT_FOUND, "models/wing/fits/3");
}

TEST_F(ErrorTableTest, ATakenNameAlreadyExists) {
  server_.Create("wing");
  v1::CreateModelRequest request;
  request.set_model_id("wing");
  request.mutable_model()->set_input_dimension(1);
  request.mutable_model()->add_fidelities();
  v1::Model model;
  TestContext context;
  const auto info = ExpectError<ResourceInfo>(server_.stub().CreateModel(&context, request, &model),
                                              StatusCode::ALREADY_EXISTS, "models/wing: a model with this name");
  EXPECT_EQ(info.resource_name(), "models/wing");
}

TEST_F(ErrorTableTest, PredictBeforeAnyFitSaysWhatToDoNext) {
  server_.Create("wing");
  const auto failure = ExpectError<PreconditionFailure>(Predict(PredictAt("wing", {0})),
                                                        StatusCode::FAILED_PRECONDITION, "models/wing: ");
  ASSERT_EQ(failure.violations_size(), 1);
  EXPECT_EQ(failure.violations(0).type(), "NO_REVISION");
  EXPECT_EQ(failure.violations(0).subject(), "models/wing");
  EXPECT_NE(failure.violations(0).description().find("fit"), std::string::npos) << failure.DebugString();
}

TEST_F(ErrorTableTest, AFitWithoutDataAtTheLowestLevelSaysWhatToDoNext) {
  server_.Create("wing");
  const auto failure =
      ExpectError<PreconditionFailure>(Fit(ShortFit("wing")), StatusCode::FAILED_PRECONDITION, "models/wing: ");
  ASSERT_EQ(failure.violations_size(), 1);
  EXPECT_EQ(failure.violations(0).subject(), "models/wing");
  EXPECT_NE(failure.violations(0).description().find("AddObservations"), std::string::npos) << failure.DebugString();
}

TEST_F(ErrorTableTest, ARevisionThatKnowsLessThanMinDataVersionIsRefused) {
  server_.MakeFitted("wing");
  v1::PredictRequest request = PredictAt("wing", {0});
  request.set_min_data_version(2);
  const auto failure = ExpectError<PreconditionFailure>(Predict(request), StatusCode::FAILED_PRECONDITION, "2");
  ASSERT_EQ(failure.violations_size(), 1);
  EXPECT_FALSE(failure.violations(0).description().empty());
}

TEST_F(ErrorTableTest, AnOldEtagIsAborted) {
  const v1::Model model = server_.Create("wing");
  server_.Observe("wing");
  v1::FitRequest request = ShortFit("wing");
  request.set_etag(model.etag());
  const auto info = ExpectError<ErrorInfo>(Fit(request), StatusCode::ABORTED, model.etag());
  EXPECT_EQ(info.reason(), "ETAG_MISMATCH");
  EXPECT_EQ(info.domain(), "fidelio");
}

TEST_F(ErrorTableTest, ADeadlineStopsWorkInsideACall) {
  server_.MakeFitted("wing");
  v1::PredictRequest request = PredictAt("wing", std::vector<double>(1'000'000, 0.5));
  request.mutable_options()->add_quantiles(0.1);
  // With the shortest of these a call may not even arrive on a busy machine; the work takes longer than the longest.
  for (const int milliseconds : {50, 100, 200, 400, 800}) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Milliseconds(milliseconds)));
    const grpc::Status status = server_.stub().Predict(&context, request, &prediction_);
    if (status.error_code() != StatusCode::DEADLINE_EXCEEDED) break;
  }
  // The client gives up by itself; what the server did is in its log, once it has stopped.
  const std::string log = server_.StopAndReadLog();
  EXPECT_NE(log.find("method=Predict model=wing code=DEADLINE_EXCEEDED"), std::string::npos) << log;
}

TEST_F(ErrorTableTest, ACancellationStopsWorkInsideACall) {
  server_.MakeFitted("wing");
  v1::PredictRequest request = PredictAt("wing", std::vector<double>(1'000'000, 0.5));
  TestContext context;
  std::thread cancel([&] { context.TryCancel(); });
  const grpc::Status status = server_.stub().Predict(&context, request, &prediction_);
  cancel.join();
  EXPECT_EQ(status.error_code(), StatusCode::CANCELLED) << status.error_message();
}

TEST(ErrorTableLimitsTest, AFullQueueIsExhaustedAndSaysWhenToTryAgain) {
  FitGate gate;
  TestServer server([&](Server::Options& options) {
    options.config.fit_queue = 1;
    options.hooks = gate.Hooks();
  });
  gate.Close();
  v1::Fit fit;
  const auto start = [&](const std::string& model) {
    server.Create(model);
    server.Observe(model);
    TestContext context;
    return server.stub().Fit(&context, ShortFit(model), &fit);
  };
  ASSERT_TRUE(IsOk(start("a")));
  gate.AwaitHeld();
  ASSERT_TRUE(IsOk(start("b")));
  const auto info = ExpectError<RetryInfo>(start("c"), StatusCode::RESOURCE_EXHAUSTED,
                                           "the queue is full: 1 fits are waiting, and 1");
  EXPECT_GT(info.retry_delay().seconds() + info.retry_delay().nanos(), 0);
  gate.Open();
}

TEST(ErrorTableLimitsTest, UsedUpMemoryIsExhaustedAndSaysWhenToTryAgain) {
  TestServer server([](Server::Options& options) { options.config.max_memory_mib = 16; });
  server.MakeFitted("wing");
  // Each of these calls alone gets all of the memory; that two of them meet is a matter of time.
  const v1::PredictRequest request = PredictAt("wing", std::vector<double>(100'000, 0.5));
  std::atomic<bool> seen = false;
  grpc::Status refusal;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      while (!seen) {
        v1::PredictResponse answer;
        TestContext context;
        const grpc::Status status = server.stub().Predict(&context, request, &answer);
        if (!status.ok() && !seen.exchange(true)) refusal = status;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  const auto info = ExpectError<RetryInfo>(refusal, StatusCode::RESOURCE_EXHAUSTED, "memory: this call needs ");
  EXPECT_NE(refusal.error_message().find("of the 8388608 that calls may use together"), std::string::npos)
      << refusal.error_message();
  EXPECT_GT(info.retry_delay().seconds() + info.retry_delay().nanos(), 0);
}

TEST(ErrorTableLimitsTest, AUsedUpQuotaIsExhaustedAndSaysWhose) {
  const std::string token = "writer-token-with-20-characters";
  TestServer server([&](Server::Options& options) {
    options.config.tokens_file = options.config.data_dir + ".tokens";
    std::ofstream(options.config.tokens_file) << "ada writer " << FormatDigest(DigestOf(token)) << " max_models=1\n";
  });
  const auto create = [&](const std::string& id) {
    v1::CreateModelRequest request;
    request.set_model_id(id);
    request.mutable_model()->set_input_dimension(1);
    request.mutable_model()->add_fidelities();
    v1::Model model;
    TestContext context(token);
    return server.stub().CreateModel(&context, request, &model);
  };
  ASSERT_TRUE(IsOk(create("a")));
  const auto failure = ExpectError<QuotaFailure>(create("b"), StatusCode::RESOURCE_EXHAUSTED, "token:ada");
  ASSERT_EQ(failure.violations_size(), 1);
  EXPECT_EQ(failure.violations(0).subject(), "token:ada");
  EXPECT_NE(failure.violations(0).description().find("1"), std::string::npos);
}

// Flips a bit in the first byte of every place where `text` is in the file.
void FlipBitAt(const std::string& path, const std::string& text) {
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  int places = 0;
  for (size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1), ++places) bytes[at] ^= 1;
  EXPECT_GT(places, 0);
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(ErrorTableLimitsTest, DamagedBytesAreDataLossForTheirModelAlone) {
  TempDirectory kept;
  const std::string data = kept / "data";
  {
    TestServer server([&](Server::Options& options) { options.config.data_dir = data; });
    server.MakeFitted("good");
    server.MakeFitted("bad");
    v1::UpdateModelRequest request;
    request.mutable_model()->set_name("models/bad");
    request.mutable_model()->set_description("a needle in the rows of the bad model");
    request.mutable_update_mask()->add_paths("description");
    v1::Model model;
    TestContext context;
    ASSERT_TRUE(IsOk(server.stub().UpdateModel(&context, request, &model)));
  }
  FlipBitAt(data + "/fidelio.db", "a needle in the rows of the bad model");

  TestServer server([&](Server::Options& options) { options.config.data_dir = data; });
  v1::PredictResponse answer;
  const auto predict = [&](const std::string& model) {
    TestContext context;
    return server.stub().Predict(&context, PredictAt(model, {0.5}), &answer);
  };
  EXPECT_TRUE(IsOk(predict("good")));
  const auto info = ExpectError<ResourceInfo>(predict("bad"), StatusCode::DATA_LOSS, "models/bad: ");
  EXPECT_EQ(info.resource_type(), "model");
  EXPECT_EQ(info.resource_name(), "models/bad");
  v1::GetModelRequest request;
  request.set_name("models/bad");
  v1::Model model;
  TestContext context;
  ASSERT_TRUE(IsOk(server.stub().GetModel(&context, request, &model)));
  EXPECT_EQ(model.state(), v1::MODEL_STATE_QUARANTINED);
  EXPECT_FALSE(model.quarantine_reason().empty());
}

}  // namespace
}  // namespace fidelio
