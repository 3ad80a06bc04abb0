#include "absl/strings/str_cat.h"
#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"
#include "tests/support/temp_directory.h"

namespace fidelio::cli {
namespace {

TEST_F(CliTest, PredictAppendsColumnsToThoseOfTheFile) {
  const Result result =
      Run({"predict", "wing", "-", "--quantiles", "0.25,0.75"}, "name,x2,x1\na,0.50,1\n\"b\",2,1e0\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "name,x2,x1,mean,sd,q0.25,q0.75\na,0.50,1,1.5,0.5,1.25,1.75\n\"b\",2,1e0,3,0.5,2.75,3.25\n");
}

TEST_F(CliTest, PredictWritesAFileAndTakesAFidelityByName) {
  TempDirectory directory;
  uint32_t level = 99;
  const auto predict = server_.emulator().predict;
  server_.emulator().predict = [&, predict](grpc::ServerContext& context, const v1::PredictRequest& request,
                                            v1::PredictResponse& response) {
    level = request.options().level();
    return predict(context, request, response);
  };
  const Result result = Run({"predict", "wing", "-", "--level", "low", "-o", directory / "out.csv"}, "x1,x2\n1,2\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(FileContents(directory / "out.csv"), "x1,x2,mean,sd\n1,2,3,0.5\n");
  EXPECT_EQ(level, 0u);
  EXPECT_EQ(Run({"predict", "wing", "-", "-o", directory / "no/out.csv"}, "x1,x2\n1,2\n").code, 3);
}

TEST_F(CliTest, PredictInJsonHasEveryNumber) {
  const Result result = Run({"predict", "wing", "-", "--json", "--quantiles", "0.5"}, "x1,x2\n1,2\n");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["mean"][0], 3);
  EXPECT_EQ(json["sd"][0], 0.5);
  EXPECT_EQ(json["quantiles"]["0.5"][0], 3);
  EXPECT_EQ(json["revision"], "models/wing/revisions/2");
}

class SkewedPredictTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    server_.emulator().predict = [predict = server_.emulator().predict](grpc::ServerContext& context,
                                                                        const v1::PredictRequest& request,
                                                                        v1::PredictResponse& response) {
      const Eigen::MatrixXd x = *client::FromWire(request.inputs(), "");
      *response.mutable_prediction()->mutable_median() = client::ToWire(x.rowwise().sum() / 2);
      response.mutable_prediction()->add_warnings("The mean is far away.");
      return predict(context, request, response);
    };
  }
};

TEST_F(SkewedPredictTest, TheMedianIsTheLastColumnAndWarningsGoToStandardError) {
  const Result result = Run({"predict", "wing", "-", "--quantiles", "0.25"}, "x1,x2\n1,2\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "x1,x2,mean,sd,q0.25,median\n1,2,3,0.5,2.75,1.5\n");
  EXPECT_NE(result.err.find("warning: The mean is far away."), std::string::npos) << result.err;
  const Json json = Json::parse(Run({"predict", "wing", "-", "--json"}, "x1,x2\n1,2\n").out);
  EXPECT_EQ(json["median"][0], 1.5);
  EXPECT_EQ(json["warnings"][0], "The mean is far away.");
}

TEST_F(SkewedPredictTest, ScoreHasTheMedianBesideTheMean) {
  const Result result = Run({"score", "wing", "-"}, "x1,x2,y\n1,2,1.5\n1,1,1\n");
  EXPECT_NE(result.out.find("RMSE of the median"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("warning: The mean is far away."), std::string::npos) << result.err;
  const Json json = Json::parse(Run({"score", "wing", "-", "--json"}, "x1,x2,y\n1,2,1.5\n1,1,1\n").out);
  EXPECT_EQ(json["median_rmse"], 0);
  EXPECT_EQ(json["median_r2"], 1);
  EXPECT_GT(json["rmse"], 1);
}

TEST_F(CliTest, ScoreComparesWithTheColumnY) {
  const Result result = Run({"score", "wing", "-", "--json"}, "x1,x2,y\n1,2,3\n1,2,5\n");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["coverage95"], 0.5);
}

TEST_F(CliTest, ScoresAreOfOneFidelity) {
  const std::string table = "fidelity,x1,x2,y\nhigh,1,2,3\nlow,1,2,5\n";
  const Result result = Run({"score", "wing", "-"}, table);
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("row 3, column fidelity: \"low\", but predictions of high are scored"), std::string::npos)
      << result.err;
  EXPECT_EQ(Run({"score", "wing", "-", "--level", "low"}, "level,x1,x2,y\n0,1,2,3\n").code, 0);
}

class LongPredictTest : public CliTest {
 protected:
  static constexpr int kRows = 20'000;

  void SetUp() override {
    CliTest::SetUp();
    server_.emulator().predict_stream =
        [this](grpc::ServerContext& context,
               grpc::ServerReaderWriter<v1::PredictStreamResponse, v1::PredictStreamRequest>& stream) {
          v1::PredictStreamRequest request;
          stream.Read(&request);
          v1::PredictRequest one;
          *one.mutable_options() = request.header().options();
          while (stream.Read(&request)) {
            ++chunks_;
            *one.mutable_inputs() = request.inputs();
            v1::PredictResponse answer;
            server_.emulator().predict(context, one, answer);
            v1::PredictStreamResponse response;
            *response.mutable_prediction() = answer.prediction();
            response.set_revision(answer.revision());
            stream.Write(response);
          }
          return grpc::Status::OK;
        };
    input_ = "x1,x2,y\n";
    for (int i = 0; i < kRows; ++i) absl::StrAppend(&input_, i, ",1,", i + 1, "\n");
  }

  int chunks_ = 0;
  std::string input_;
};

TEST_F(LongPredictTest, LongFilesAreStreamedAndComeBackInOrder) {
  TempDirectory directory;
  const Result result = Run({"predict", "wing", "-", "-o", directory / "out.csv"}, input_);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_GT(chunks_, 1);
  std::string expected = "x1,x2,y,mean,sd\n";
  for (int i = 0; i < kRows; ++i) absl::StrAppend(&expected, i, ",1,", i + 1, ",", i + 1, ",0.5\n");
  EXPECT_TRUE(FileContents(directory / "out.csv") == expected);
}

TEST_F(LongPredictTest, AMistakeInTheMiddleLeavesNoFile) {
  TempDirectory directory;
  const Result result = Run({"predict", "wing", "-", "-o", directory / "out.csv"}, input_ + "1,x,2\n");
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.err, "fidelio: standard input: row 20002, column x2: \"x\" is not a number\n");
  EXPECT_EQ(FileContents(directory / "out.csv"), "");
}

TEST_F(LongPredictTest, ScoresAreThoseOfTheWholeFile) {
  const Result result = Run({"score", "wing", "-", "--json"}, input_);
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["points"], kRows);
  EXPECT_EQ(json["rmse"], 0);
  EXPECT_EQ(json["r2"], 1);
}

TEST_F(CliTest, ModelsAreScoredAgainstEachOtherOnOneFile) {
  TempDirectory directory;
  std::ofstream(directory / "test.csv") << "x1,x2,y\n1,2,3\n1,2,5\n";
  const Result result = Run({"score", "wing", directory / "test.csv", "--against", "wing", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const Json scores = Json::parse(result.out)["scores"];
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[1]["coverage95"], 0.5);
  EXPECT_NE(Run({"score", "wing", directory / "test.csv", "--against", "wing"}).out.find("MODEL"), std::string::npos);
  EXPECT_EQ(Run({"score", "wing", "-", "--against", "wing"}, "x1,x2,y\n1,2,3\n").code, 3);
}

}  // namespace
}  // namespace fidelio::cli
