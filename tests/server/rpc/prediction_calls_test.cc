// Predict, PredictStream and SamplePaths through a real channel.
#include <cmath>
#include <thread>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

// One server with one fitted model for all tests: none of them changes it.
class PredictionCallsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    gate_ = new FitGate;
    server_ = new TestServer([](Server::Options& options) { options.hooks = gate_->Hooks(); });
    server_->MakeFitted("wing");
  }
  static void TearDownTestSuite() {
    delete server_;
    delete gate_;
  }

  static grpc::Status Predict(const v1::PredictRequest& request, v1::PredictResponse* answer) {
    TestContext context;
    return server_->stub().Predict(&context, request, answer);
  }

  static std::vector<double> Grid(int n) {
    std::vector<double> grid;
    for (int i = 0; i < n; ++i) grid.push_back(static_cast<double>(i) / n);
    return grid;
  }

  static FitGate* gate_;
  static TestServer* server_;
};

FitGate* PredictionCallsTest::gate_ = nullptr;
TestServer* PredictionCallsTest::server_ = nullptr;

TEST_F(PredictionCallsTest, PredictsTheMeanNearTheDataWithAPositiveVariance) {
  v1::PredictResponse answer;
  ASSERT_TRUE(IsOk(Predict(PredictAt("wing", {0, 0.5, 1}), &answer)));
  EXPECT_EQ(answer.revision(), "models/wing/revisions/1");
  EXPECT_EQ(answer.data_version(), 1);
  const std::vector<double> mean = Values(answer.prediction().mean()),
                            variance = Values(answer.prediction().variance());
  ASSERT_EQ(mean.size(), 3u);
  EXPECT_NEAR(mean[0], 0, 0.3);
  EXPECT_NEAR(mean[2], 2 * std::sin(8), 0.3);
  for (const double v : variance) EXPECT_GE(v, 0);
  EXPECT_FALSE(answer.prediction().has_quantiles());
  EXPECT_FALSE(answer.prediction().has_covariance());
  EXPECT_FALSE(answer.prediction().has_input_gradient());
}

TEST_F(PredictionCallsTest, AnswersEverythingThatIsAskedForInTheEncodingOfTheInputs) {
  v1::PredictRequest request = PredictAt("wing", {});
  request.mutable_inputs()->set_rows(2);
  request.mutable_inputs()->set_cols(1);
  for (const double x : {0.3, 0.7}) request.mutable_inputs()->mutable_values()->add_values(x);
  v1::PredictOptions& options = *request.mutable_options();
  options.set_level(0);
  options.set_include_noise(true);
  for (const double p : {0.9, 0.1, 0.5}) options.add_quantiles(p);
  options.set_full_covariance(true);
  options.set_input_gradient(true);
  v1::PredictResponse answer;
  ASSERT_TRUE(IsOk(Predict(request, &answer)));
  const v1::Prediction& prediction = answer.prediction();
  EXPECT_EQ(prediction.quantiles().rows(), 2u);
  EXPECT_EQ(prediction.quantiles().cols(), 3u);
  EXPECT_GT(prediction.quantiles().values().values(0), prediction.quantiles().values().values(1));
  EXPECT_EQ(prediction.covariance().rows(), 2u);
  EXPECT_EQ(prediction.covariance().values().values(1), prediction.covariance().values().values(2));
  EXPECT_EQ(prediction.covariance().values().values(0), prediction.variance().values().values(0));
  EXPECT_EQ(prediction.covariance().values().values(3), prediction.variance().values().values(1));
  EXPECT_EQ(prediction.input_gradient().values().values_size(), 2);
}

TEST_F(PredictionCallsTest, MediansAreQuantiles) {
  v1::PredictRequest request = PredictAt("wing", Grid(700));
  request.mutable_options()->add_quantiles(0.5);
  v1::PredictResponse answer;
  ASSERT_TRUE(IsOk(Predict(request, &answer)));
  const std::vector<double> median = Values(answer.prediction().median());
  const std::vector<double> quantile = Values(answer.prediction().quantiles());
  ASSERT_EQ(median.size(), 700u);
  for (size_t i = 0; i < 700; ++i) EXPECT_NEAR(median[i], quantile[i], 1e-7) << i;
  EXPECT_EQ(answer.prediction().warnings_size(), 0);
}

// Outputs over 12 decades, predicted beside them.
TEST_F(PredictionCallsTest, SkewedPredictionsOfALogModelAreBoundedAndWarnedAbout) {
  v1::CreateModelRequest create;
  create.set_model_id("decades");
  create.mutable_model()->set_input_dimension(1);
  create.mutable_model()->add_fidelities()->set_name("only");
  create.mutable_model()->mutable_output_transform()->set_kind(v1::OUTPUT_TRANSFORM_KIND_LOG);
  v1::Model model;
  TestContext create_context, add_context;
  ASSERT_TRUE(IsOk(server_->stub().CreateModel(&create_context, create, &model)));
  v1::AddObservationsRequest add;
  add.set_model("models/decades");
  v1::ObservationBatch* batch = add.add_observations();
  batch->set_level(0);
  *batch->mutable_inputs() = MakeMatrix(6, 1, {0, 0.2, 0.35, 0.6, 0.85, 1});
  *batch->mutable_outputs() = MakeMatrix(6, 1, {1e-6, 1e4, 1e-2, 1e6, 1e-5, 1e3});
  v1::AddObservationsResponse added;
  ASSERT_TRUE(IsOk(server_->stub().AddObservations(&add_context, add, &added)));
  server_->FitAndWait("decades");
  v1::PredictResponse answer;
  ASSERT_TRUE(IsOk(Predict(PredictAt("decades", {1.3}), &answer)));
  const double mean = Values(answer.prediction().mean())[0], median = Values(answer.prediction().median())[0];
  EXPECT_LT(mean, 1.0001e12);  // half of 12 decades above the largest output
  EXPECT_GT(mean, 1e3 * median);
  ASSERT_EQ(answer.prediction().warnings_size(), 1);
  EXPECT_EQ(answer.prediction().warnings(0).find("At 1 of 1 input, the predicted mean lies outside"), 0u)
      << answer.prediction().warnings(0);

  TestContext context, diagnose_context;
  const auto stream = server_->stub().PredictStream(&context);
  v1::PredictStreamRequest request;
  request.mutable_header()->set_model("models/decades");
  *request.mutable_inputs() = MakeMatrix(1, 1, {1.3});
  v1::PredictStreamResponse streamed;
  ASSERT_TRUE(stream->Write(request) && stream->WritesDone() && stream->Read(&streamed));
  EXPECT_EQ(streamed.prediction().SerializeAsString(), answer.prediction().SerializeAsString());
  EXPECT_TRUE(IsOk(stream->Finish()));

  v1::DiagnoseRequest diagnose;
  diagnose.set_model("models/decades");
  v1::DiagnoseResponse diagnosis;
  ASSERT_TRUE(IsOk(server_->stub().Diagnose(&diagnose_context, diagnose, &diagnosis)));
  const v1::FidelityDiagnostics& d = diagnosis.fidelities(0);
  EXPECT_EQ(Values(d.median()).size(), 6u);
  EXPECT_GT(d.median_rmse(), 0);
  EXPECT_LT(d.median_rmse(), d.rmse());
  bool warned = false;
  for (const std::string& text : diagnosis.verdict().warnings()) {
    warned = warned || text.find("left-out observations of fidelity \"only\", the predicted mean") != std::string::npos;
  }
  EXPECT_TRUE(warned) << diagnosis.verdict().DebugString();
}

TEST_F(PredictionCallsTest, AnInputsPredictionDoesNotDependOnTheOthersOfItsCall) {
  v1::PredictResponse together, alone;
  const std::vector<double> grid = Grid(1000);
  ASSERT_TRUE(IsOk(Predict(PredictAt("wing", grid), &together)));
  const std::vector<double> means = Values(together.prediction().mean());
  ASSERT_TRUE(IsOk(Predict(PredictAt("wing", std::vector<double>(grid.begin() + 512, grid.end())), &alone)));
  EXPECT_EQ(std::vector<double>(means.begin() + 512, means.end()), Values(alone.prediction().mean()));
}

TEST_F(PredictionCallsTest, NeverWaitsForAFitAndServesTheRevisionBeforeIt) {
  server_->MakeFitted("busy");
  v1::PredictResponse before, during;
  ASSERT_TRUE(IsOk(Predict(PredictAt("busy", {0.2}), &before)));
  gate_->Close();
  v1::Fit fit;
  TestContext context;
  ASSERT_TRUE(IsOk(server_->stub().Fit(&context, ShortFit("busy"), &fit)));
  gate_->AwaitHeld();
  ASSERT_TRUE(IsOk(Predict(PredictAt("busy", {0.2}), &during)));
  EXPECT_EQ(during.SerializeAsString(), before.SerializeAsString());
  gate_->Open();
}

TEST_F(PredictionCallsTest, StreamsManyChunksWithTheBitsOfPredict) {
  constexpr int kChunks = 200, kRows = 64;
  TestContext context;
  const auto stream = server_->stub().PredictStream(&context);
  std::thread writer([&] {
    v1::PredictStreamRequest request;
    request.mutable_header()->set_model("models/wing");
    ASSERT_TRUE(stream->Write(request));
    request.Clear();
    *request.mutable_inputs() = MakeMatrix(kRows, 1, Grid(kRows));
    for (int i = 0; i < kChunks; ++i) ASSERT_TRUE(stream->Write(request));
    stream->WritesDone();
  });
  v1::PredictResponse whole;
  ASSERT_TRUE(IsOk(Predict(PredictAt("wing", Grid(kRows)), &whole)));
  v1::PredictStreamResponse response;
  int64_t chunks = 0;
  while (stream->Read(&response)) {
    EXPECT_EQ(response.chunk(), chunks++);
    EXPECT_EQ(response.prediction().SerializeAsString(), whole.prediction().SerializeAsString());
    EXPECT_EQ(response.revision(), "models/wing/revisions/1");
    EXPECT_EQ(response.data_version(), 1);
  }
  writer.join();
  EXPECT_TRUE(IsOk(stream->Finish()));
  EXPECT_EQ(chunks, kChunks);
}

TEST_F(PredictionCallsTest, AStreamsFirstMessageMayBeAChunkToo) {
  TestContext context;
  const auto stream = server_->stub().PredictStream(&context);
  v1::PredictStreamRequest request;
  request.mutable_header()->set_model("models/wing");
  *request.mutable_inputs() = MakeMatrix(1, 1, {0.5});
  ASSERT_TRUE(stream->Write(request));
  v1::PredictStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.chunk(), 0);
  ASSERT_TRUE(stream->Write(request));  // a second header
  EXPECT_FALSE(stream->Read(&response));
  ExpectBadField(stream->Finish(), "header", "chunk 1");
}

TEST_F(PredictionCallsTest, StreamsThatBeginWronglySayWhat) {
  const auto finish = [&](const std::function<void(v1::PredictStreamRequest&)>& change) {
    TestContext context;
    const auto stream = server_->stub().PredictStream(&context);
    v1::PredictStreamRequest request;
    request.mutable_header()->set_model("models/wing");
    *request.mutable_inputs() = MakeMatrix(1, 1, {0.5});
    change(request);
    stream->Write(request);
    stream->WritesDone();
    v1::PredictStreamResponse response;
    EXPECT_FALSE(stream->Read(&response));
    return stream->Finish();
  };
  ExpectBadField(finish([](auto& r) { r.clear_header(); }), "header", "missing");
  ExpectBadField(finish([](auto& r) { r.mutable_header()->set_model("wing"); }), "header.model", "\"wing\"");
  ExpectBadField(finish([](auto& r) { r.mutable_header()->mutable_options()->set_full_covariance(true); }),
                 "header.options.full_covariance", "true");
  ExpectBadField(finish([](auto& r) { r.mutable_header()->mutable_options()->set_level(7); }), "header.options.level",
                 "7");
  ExpectBadField(finish([](auto& r) { *r.mutable_inputs() = MakeMatrix(1, 2, {1, 2}); }), "inputs", "2 columns");
}

TEST_F(PredictionCallsTest, DrawsTheSamePathsForTheSameSeed) {
  v1::SamplePathsRequest request;
  request.set_model("models/wing");
  *request.mutable_inputs() = MakeMatrix(5, 1, Grid(5));
  request.set_count(3);
  request.set_seed(11);
  v1::SamplePathsResponse first, second, third;
  const auto sample = [&](v1::SamplePathsResponse* answer) {
    TestContext context;
    return server_->stub().SamplePaths(&context, request, answer);
  };
  ASSERT_TRUE(IsOk(sample(&first)));
  ASSERT_TRUE(IsOk(sample(&second)));
  EXPECT_EQ(first.samples().rows(), 3u);
  EXPECT_EQ(first.samples().cols(), 5u);
  EXPECT_EQ(first.SerializeAsString(), second.SerializeAsString());
  EXPECT_EQ(first.revision(), "models/wing/revisions/1");
  request.set_seed(12);
  ASSERT_TRUE(IsOk(sample(&third)));
  EXPECT_NE(first.SerializeAsString(), third.SerializeAsString());
  request.set_count(1'000'000);
  ExpectBadField(sample(&third), "count", "1000000 paths, but at most 10000");
}

TEST_F(PredictionCallsTest, FunctionsAreTheSameInEveryCall) {
  const auto sample = [&](int n, uint32_t count, v1::PathKind kind, v1::SamplePathsResponse* answer) {
    v1::SamplePathsRequest request;
    request.set_model("models/wing");
    *request.mutable_inputs() = MakeMatrix(n, 1, Grid(n));
    request.set_count(count);
    request.set_seed(11);
    request.set_kind(kind);
    TestContext context;
    return server_->stub().SamplePaths(&context, request, answer);
  };
  v1::SamplePathsResponse few, many;
  ASSERT_TRUE(IsOk(sample(3, 2, v1::PATH_KIND_FUNCTION, &few)));
  // Every other point of Grid(6) is one of Grid(3); 35 functions are drawn in two parts.
  ASSERT_TRUE(IsOk(sample(6, 35, v1::PATH_KIND_FUNCTION, &many)));
  ASSERT_EQ(few.samples().rows(), 2u);
  ASSERT_EQ(many.samples().rows(), 35u);
  const std::vector<double> some = Values(few.samples()), all = Values(many.samples());  // row by row
  for (const int path : {0, 1}) {
    for (const int i : {0, 1, 2}) EXPECT_NEAR(some[3 * path + i], all[6 * path + 2 * i], 1e-9);
  }
  EXPECT_GT(std::abs(all[1] - all[6 * 34 + 1]), 1e-9);
  EXPECT_EQ(many.revision(), "models/wing/revisions/1");

  // Joint samples have a limit that functions do not have.
  ExpectBadField(sample(2001, 1, v1::PATH_KIND_JOINT, &few), "inputs", "PATH_KIND_FUNCTION");
  EXPECT_TRUE(IsOk(sample(2001, 1, v1::PATH_KIND_FUNCTION, &few)));
  ExpectBadField(sample(1, 1, static_cast<v1::PathKind>(9), &few), "kind", "9 is no PathKind");
}

TEST_F(PredictionCallsTest, BadRequestsNameFieldValueAndRule) {
  v1::PredictResponse answer;
  const auto predict = [&](const std::function<void(v1::PredictRequest&)>& change) {
    v1::PredictRequest request = PredictAt("wing", {0.5});
    change(request);
    return Predict(request, &answer);
  };
  ExpectBadField(predict([](auto& r) {
                   *r.mutable_inputs() = MakeMatrix(1, 3, {1, 2, 3});
                 }),
                 "inputs", "3 columns, but model \"wing\" has input dimension 1");
  ExpectBadField(predict([](auto& r) { *r.mutable_inputs() = MakeMatrix(1, 1, {std::nan("")}); }), "inputs", "nan");
  ExpectBadField(predict([](auto& r) { r.clear_inputs(); }), "inputs", "at least 1 row");
  ExpectBadField(predict([](auto& r) { r.mutable_options()->set_level(2); }), "options.level", "2");
  ExpectBadField(predict([](auto& r) { r.mutable_options()->add_quantiles(1.0); }), "options.quantiles[0]", "below 1");
  ExpectBadField(predict([](auto& r) { r.mutable_options()->add_quantiles(std::nan("")); }), "options.quantiles[0]",
                 "nan");
  ExpectBadField(predict([](auto& r) { r.set_revision("models/tail/revisions/1"); }), "revision", "wing");
  ExpectBadField(predict([](auto& r) { r.set_min_data_version(-1); }), "min_data_version", "-1");
}

}  // namespace
}  // namespace fidelio
