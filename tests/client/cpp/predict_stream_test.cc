#include <vector>

#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

using Stream = grpc::ServerReaderWriter<v1::PredictStreamResponse, v1::PredictStreamRequest>;

class PredictStreamTest : public ::testing::Test {
 protected:
  PredictStreamTest() {
    ClientOptions options;
    options.channel.server = server_.address();
    options.retry.first_delay = absl::Milliseconds(1);
    options.retry.longest_delay = absl::Milliseconds(10);
    client_ = *Client::Connect(options);
    server_.emulator().predict_stream = [this](grpc::ServerContext&, Stream& stream) { return Serve(stream, -1); };
  }

  // Answers the sums of the inputs, and fails before it answers chunk number `failure` of the stream.
  grpc::Status Serve(Stream& stream, int failure) {
    v1::PredictStreamRequest request;
    v1::PredictStreamResponse response;
    if (!stream.Read(&request)) return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "header: missing");
    headers_.Add(request.header());
    for (int chunk = 0; stream.Read(&request); ++chunk) {
      if (chunk == failure) return Unavailable();
      const Eigen::MatrixXd x = *FromWire(request.inputs(), "");
      *response.mutable_prediction()->mutable_mean() = ToWire(x.rowwise().sum());
      *response.mutable_prediction()->mutable_variance() = ToWire(Eigen::VectorXd::Ones(x.rows()));
      response.set_chunk(chunk);
      response.set_revision("models/wing/revisions/2");
      stream.Write(response);
    }
    return grpc::Status::OK;
  }

  // Chunks of two rows with the numbers 0, 1, 2, …
  absl::Status Predict(int chunks, const PredictOptions& options = {}) {
    int given = 0;
    return client_->PredictStream(
        "wing", options,
        [&given, chunks]() -> absl::StatusOr<Eigen::MatrixXd> {
          if (given == chunks) return Eigen::MatrixXd();
          const double first = 2.0 * given++;
          return Eigen::MatrixXd(Eigen::Vector2d(first, first + 1));
        },
        [this](const Prediction& prediction) {
          for (const double mean : prediction.mean) means_.push_back(mean);
          return absl::OkStatus();
        });
  }

  // 0, 1, 2, …
  static std::vector<double> Numbers(int count) {
    std::vector<double> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(i);
    return numbers;
  }

  Recorder<v1::PredictStreamHeader> headers_;
  std::vector<double> means_;
  FakeServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(PredictStreamTest, AnswersComeInTheOrderOfTheChunks) {
  EXPECT_TRUE(Predict(50, {.level = 1, .revision = "7"}).ok());
  EXPECT_EQ(means_, Numbers(100));
  ASSERT_EQ(headers_.size(), 1u);
  EXPECT_EQ(headers_.values()[0].model(), "models/wing");
  EXPECT_EQ(headers_.values()[0].revision(), "models/wing/revisions/7");
  EXPECT_EQ(headers_.values()[0].options().level(), 1u);
}

TEST_F(PredictStreamTest, NothingIsPredictedWithoutChunks) {
  EXPECT_TRUE(Predict(0).ok());
  EXPECT_TRUE(means_.empty());
  EXPECT_EQ(headers_.size(), 1u);  // the server has seen whether there is such a model
}

TEST_F(PredictStreamTest, ABrokenStreamGoesOnWithTheSameRevisionAndLosesNothing) {
  server_.emulator().predict_stream = [this](grpc::ServerContext&, Stream& stream) {
    return Serve(stream, headers_.size() < 3 ? 3 : -1);
  };
  EXPECT_TRUE(Predict(20).ok());
  EXPECT_EQ(means_, Numbers(40));
  ASSERT_EQ(headers_.size(), 4u);
  EXPECT_EQ(headers_.values()[0].revision(), "");
  EXPECT_EQ(headers_.values()[3].revision(), "models/wing/revisions/2");
}

TEST_F(PredictStreamTest, AServerThatStaysAwayIsAnError) {
  ClientOptions options;
  options.channel.server = server_.address();
  options.retry.give_up_after = absl::Milliseconds(20);
  options.retry.first_delay = options.retry.longest_delay = absl::Milliseconds(5);
  client_ = *Client::Connect(options);
  server_.emulator().predict_stream = [this](grpc::ServerContext&, Stream& stream) { return Serve(stream, 0); };
  EXPECT_TRUE(IsError(Predict(3), absl::StatusCode::kUnavailable, {"shutting down", "tried"}));
}

TEST_F(PredictStreamTest, TheServersErrorsAreToldAndEndIt) {
  server_.emulator().predict_stream = [](grpc::ServerContext&, Stream&) {
    return grpc::Status(grpc::StatusCode::NOT_FOUND, "models/wing: there is none");
  };
  EXPECT_TRUE(IsError(Predict(100), absl::StatusCode::kNotFound, {"models/wing: there is none"}));
}

TEST_F(PredictStreamTest, ErrorsOfTheCallersFunctionsEndIt) {
  int given = 0;
  EXPECT_TRUE(IsError(client_->PredictStream(
                          "wing", {},
                          [&]() -> absl::StatusOr<Eigen::MatrixXd> {
                            if (given++ == 2) return absl::InvalidArgumentError("row 17: nonsense");
                            return Eigen::MatrixXd::Zero(1, 1);
                          },
                          [](const Prediction&) { return absl::OkStatus(); }),
                      absl::StatusCode::kInvalidArgument, {"row 17: nonsense"}));
  EXPECT_TRUE(IsError(client_->PredictStream(
                          "wing", {}, []() -> absl::StatusOr<Eigen::MatrixXd> { return Eigen::MatrixXd::Zero(1, 1); },
                          [](const Prediction&) { return absl::ResourceExhaustedError("disk full"); }),
                      absl::StatusCode::kResourceExhausted, {"disk full"}));
}

TEST_F(PredictStreamTest, NoMoreThanAFewChunksAreReadAheadOfTheAnswers) {
  int given = 0, taken = 0, most = 0;
  absl::Mutex mutex;
  ASSERT_TRUE(client_
                  ->PredictStream(
                      "wing", {},
                      [&]() -> absl::StatusOr<Eigen::MatrixXd> {
                        absl::MutexLock lock(&mutex);
                        if (given == 200) return Eigen::MatrixXd();
                        most = std::max(most, ++given - taken);
                        return Eigen::MatrixXd::Zero(1, 1);
                      },
                      [&](const Prediction&) {
                        absl::MutexLock lock(&mutex);
                        ++taken;
                        return absl::OkStatus();
                      })
                  .ok());
  EXPECT_EQ(taken, 200);
  // One more: the answer is taken before the chunk counts as answered.
  EXPECT_LE(most, kPredictAhead + 1);
}

TEST_F(PredictStreamTest, AnswersOfAnotherShapeAreABugOfTheServer) {
  server_.emulator().predict_stream = [](grpc::ServerContext&, Stream& stream) {
    v1::PredictStreamRequest request;
    while (stream.Read(&request)) stream.Write(v1::PredictStreamResponse());
    return grpc::Status::OK;
  };
  EXPECT_TRUE(IsError(Predict(3), absl::StatusCode::kInternal, {"the server returned"}));
}

}  // namespace
}  // namespace fidelio::client
