#include "tests/server/rpc/test_server.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

namespace fidelio {

void FitGate::Close() {
  absl::MutexLock lock(&mutex_);
  open_ = false;
}

void FitGate::Open() {
  absl::MutexLock lock(&mutex_);
  open_ = true;
}

void FitGate::AwaitHeld() {
  const auto held = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return held_ > 0; };
  absl::MutexLock lock(&mutex_, absl::Condition(&held));
}

ModelServiceHooks FitGate::Hooks() {
  ModelServiceHooks hooks;
  hooks.on_iteration = [this](const std::string& /*model*/, int64_t /*fit*/, const auto& /*progress*/) {
    absl::MutexLock lock(&mutex_);
    ++held_;
    const auto open = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return open_; };
    mutex_.Await(absl::Condition(&open));
    --held_;
  };
  return hooks;
}

TestServer::TestServer(const Adjust& adjust) : logger_(Logger::ToStream(LogFormat::kText, LogLevel::kInfo, log_)) {
  Server::Options options;
  options.config.listen = {"127.0.0.1", 0};
  options.config.metrics_address.reset();
  options.config.data_dir = directory_ / "data";
  options.config.fit_threads = 1;
  options.config.grace_seconds = 20;
  options.identity = {.version = "1.2.3", .build = "a test", .isa_level = "v2", .start_time = absl::Now()};
  if (adjust) adjust(options);
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(std::move(options), logger_.get());
  if (!server.ok()) {
    ADD_FAILURE() << server.status();
    std::abort();  // nothing of the test makes sense
  }
  server_ = *std::move(server);
  stub_ = v1::Emulator::NewStub(NewChannel());
}

TestServer::~TestServer() = default;

std::string TestServer::address() const { return absl::StrCat("127.0.0.1:", server_->port()); }

std::shared_ptr<grpc::Channel> TestServer::NewChannel(const grpc::ChannelArguments& arguments) const {
  grpc::ChannelArguments own = arguments;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  auto channel = grpc::CreateCustomChannel(address(), grpc::InsecureChannelCredentials(), own);
  // A first attempt to connect may fail on a busy machine; calls that do not wait would fail with it.
  EXPECT_TRUE(channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(30)));
  return channel;
}

std::string TestServer::StopAndReadLog() {
  server_.reset();
  return log_.str();
}

v1::Model TestServer::Create(const std::string& model) {
  v1::CreateModelRequest request;
  request.set_model_id(model);
  request.mutable_model()->set_input_dimension(1);
  request.mutable_model()->add_fidelities()->set_name("low");
  request.mutable_model()->add_fidelities()->set_name("high");
  v1::Model answer;
  TestContext context;
  EXPECT_TRUE(IsOk(stub_->CreateModel(&context, request, &answer)));
  return answer;
}

v1::AddObservationsResponse TestServer::Observe(const std::string& model, int count) {
  v1::AddObservationsRequest request;
  request.set_model("models/" + model);
  for (const int level : {0, 1}) {
    const int n = level == 0 ? count : count / 2;
    std::vector<double> x, y;
    for (int i = 0; i < n; ++i) {
      x.push_back(static_cast<double>(i) / (n - 1));
      y.push_back(std::sin(8 * x.back()) * (1 + level * x.back()));
    }
    v1::ObservationBatch* batch = request.add_observations();
    batch->set_level(static_cast<uint32_t>(level));
    *batch->mutable_inputs() = MakeMatrix(n, 1, x);
    *batch->mutable_outputs() = MakeMatrix(n, 1, y);
  }
  v1::AddObservationsResponse answer;
  TestContext context;
  EXPECT_TRUE(IsOk(stub_->AddObservations(&context, request, &answer)));
  return answer;
}

v1::Fit TestServer::FitAndWait(const std::string& model, uint64_t seed) {
  v1::FitRequest request = ShortFit(model);
  request.mutable_options()->set_seed(seed);
  v1::Fit fit;
  TestContext context;
  EXPECT_TRUE(IsOk(stub_->Fit(&context, request, &fit)));
  v1::WatchFitRequest watch;
  watch.set_name(fit.name());
  TestContext watch_context;
  const auto reader = stub_->WatchFit(&watch_context, watch);
  v1::WatchFitResponse event;
  while (reader->Read(&event)) fit = event.fit();
  EXPECT_TRUE(IsOk(reader->Finish()));
  EXPECT_EQ(fit.state(), v1::FIT_STATE_SUCCEEDED) << fit.DebugString();
  return fit;
}

void TestServer::MakeFitted(const std::string& model) {
  Create(model);
  Observe(model);
  FitAndWait(model);
}

TestContext::TestContext(const std::string& token) {
  set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(1)));
  if (!token.empty()) AddMetadata("authorization", "Bearer " + token);
}

v1::Matrix MakeMatrix(int rows, int cols, const std::vector<double>& values) {
  v1::Matrix matrix;
  matrix.set_rows(static_cast<uint32_t>(rows));
  matrix.set_cols(static_cast<uint32_t>(cols));
  matrix.mutable_f64_le()->assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return matrix;
}

v1::FitRequest ShortFit(const std::string& model) {
  v1::FitRequest request;
  request.set_model("models/" + model);
  request.mutable_options()->mutable_budget()->set_iterations(300);
  return request;
}

v1::PredictRequest PredictAt(const std::string& model, const std::vector<double>& inputs) {
  v1::PredictRequest request;
  request.set_model("models/" + model);
  *request.mutable_inputs() = MakeMatrix(static_cast<int>(inputs.size()), 1, inputs);
  return request;
}

std::vector<double> Values(const v1::Matrix& matrix) {
  std::vector<double> values(matrix.f64_le().size() / sizeof(double));
  std::memcpy(values.data(), matrix.f64_le().data(), matrix.f64_le().size());
  return values;
}

::testing::AssertionResult IsOk(const grpc::Status& status) {
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "status " << status.error_code() << ": " << status.error_message();
}

void ExpectBadField(const grpc::Status& status, const std::string& field, const std::string& part) {
  const auto detail = ExpectError<google::rpc::BadRequest>(status, grpc::StatusCode::INVALID_ARGUMENT, field + ": ");
  ASSERT_EQ(detail.field_violations_size(), 1);
  EXPECT_EQ(detail.field_violations(0).field(), field);
  EXPECT_NE(detail.field_violations(0).description().find(part), std::string::npos) << detail.DebugString();
}

void ExpectBareError(const grpc::Status& status, grpc::StatusCode code, const std::string& part) {
  EXPECT_EQ(status.error_code(), code) << status.error_message();
  EXPECT_NE(status.error_message().find(part), std::string::npos) << status.error_message();
  google::rpc::Status trailer;
  EXPECT_TRUE(trailer.ParseFromString(status.error_details()));
  EXPECT_EQ(trailer.details_size(), 0) << trailer.DebugString();
}

}  // namespace fidelio
