// SamplePaths of the client.
#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

class SamplePathsTest : public ::testing::Test {
 protected:
  // Path i at x is i + x.
  void SetUp() override {
    server_.emulator().sample_paths = [this](grpc::ServerContext&, const v1::SamplePathsRequest& request,
                                             v1::SamplePathsResponse& response) {
      seen_.Add(request);
      const Eigen::MatrixXd x = *FromWire(request.inputs(), "");
      Eigen::MatrixXd samples(request.count(), x.rows());
      for (Eigen::Index i = 0; i < samples.rows(); ++i) samples.row(i) = x.col(0).transpose().array() + i;
      *response.mutable_samples() = ToWire(samples);
      response.set_revision("models/wing/revisions/5");
      response.set_data_version(9);
      return grpc::Status::OK;
    };
    auto client = Client::Connect({.channel = {.server = server_.address()}});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  FakeServer server_;
  Recorder<v1::SamplePathsRequest> seen_;
  std::unique_ptr<Client> client_;
};

TEST_F(SamplePathsTest, JointSamplesComeInOneCall) {
  const auto samples = client_->SamplePaths(
      "wing", Eigen::Vector3d(1, 2, 4), {.count = 2, .level = 1, .seed = 7, .revision = "5", .min_data_version = 8});
  ASSERT_TRUE(samples.ok()) << samples.status();
  Eigen::MatrixXd expected(2, 3);
  expected << 1, 2, 4, 2, 3, 5;
  EXPECT_EQ(samples->values, expected);
  EXPECT_EQ(samples->revision, "models/wing/revisions/5");
  EXPECT_EQ(samples->data_version, 9);
  ASSERT_EQ(seen_.size(), 1u);
  const v1::SamplePathsRequest seen = seen_.values()[0];
  EXPECT_EQ(seen.model(), "models/wing");
  EXPECT_EQ(seen.kind(), v1::PATH_KIND_JOINT);
  EXPECT_EQ(seen.level(), 1u);
  EXPECT_EQ(seen.seed(), 7u);
  EXPECT_EQ(seen.revision(), "models/wing/revisions/5");
  EXPECT_EQ(seen.min_data_version(), 8);
}

TEST_F(SamplePathsTest, FunctionsAtManyInputsComeInPiecesFromOneRevision) {
  constexpr int kInputs = 3000, kPaths = 700;
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(kInputs, 0, 1);
  const auto samples = client_->SamplePaths("wing", x, {.count = kPaths, .kind = v1::PATH_KIND_FUNCTION});
  ASSERT_TRUE(samples.ok()) << samples.status();
  EXPECT_EQ(samples->values.row(3), x.transpose().array().matrix() + Eigen::RowVectorXd::Constant(kInputs, 3));
  const std::vector<v1::SamplePathsRequest> seen = seen_.values();
  ASSERT_GT(seen.size(), 1u);
  EXPECT_TRUE(seen[0].revision().empty());
  EXPECT_EQ(seen[1].revision(), "models/wing/revisions/5");
}

TEST_F(SamplePathsTest, AnswersOfAnotherShapeAreErrors) {
  server_.emulator().sample_paths = [](grpc::ServerContext&, const v1::SamplePathsRequest&,
                                       v1::SamplePathsResponse& response) {
    *response.mutable_samples() = ToWire(Eigen::MatrixXd::Zero(4, 4));
    return grpc::Status::OK;
  };
  EXPECT_TRUE(IsError(client_->SamplePaths("wing", Eigen::Vector2d(1, 2)).status(), absl::StatusCode::kInternal,
                      {"samples of 4 × 4, but 1 × 2"}));
}

}  // namespace
}  // namespace fidelio::client
