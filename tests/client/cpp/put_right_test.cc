// WithdrawObservations, WithdrawBatch and CorrectObservations of the client.
#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

class PutRightTest : public ::testing::Test {
 protected:
  PutRightTest() {
    ClientOptions options;
    options.channel.server = server_.address();
    options.retry.first_delay = absl::Milliseconds(1);
    options.retry.give_up_after = absl::Seconds(10);
    client_ = *Client::Connect(options);
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(PutRightTest, ObservationsAreWithdrawnByIdWithOneRequestIdForAllAttempts) {
  Recorder<v1::WithdrawObservationsRequest> seen;
  server_.emulator().withdraw_observations = [&](grpc::ServerContext&, const v1::WithdrawObservationsRequest& request,
                                                 v1::WithdrawObservationsResponse& response) {
    seen.Add(request);
    response.set_data_version(5);
    response.add_observation_counts(20);
    response.set_etag("e");
    response.set_withdrawn_count(2);
    response.set_current_revision_withdrawn_count(1);
    return seen.size() == 1 ? Unavailable() : grpc::Status::OK;
  };
  const auto changed = client_->WithdrawObservations("wing", {"2-1", "mine"}, "a typo", {.etag = "old"});
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(changed->data_version, 5);
  EXPECT_EQ(changed->counts, std::vector<int64_t>{20});
  EXPECT_EQ(changed->etag, "e");
  EXPECT_EQ(changed->changed, 2);
  EXPECT_EQ(changed->current_revision_withdrawn, 1);
  ASSERT_EQ(seen.size(), 2u);
  const v1::WithdrawObservationsRequest request = seen.values()[0];
  EXPECT_EQ(request.model(), "models/wing");
  EXPECT_EQ(request.run_ids(1), "mine");
  EXPECT_EQ(request.batch_data_version(), 0);
  EXPECT_EQ(request.reason(), "a typo");
  EXPECT_EQ(request.etag(), "old");
  EXPECT_FALSE(request.request_id().empty());
  EXPECT_EQ(request.request_id(), seen.values()[1].request_id());
}

TEST_F(PutRightTest, ABatchIsWithdrawnByItsDataVersion) {
  v1::WithdrawObservationsRequest seen;
  server_.emulator().withdraw_observations = [&](grpc::ServerContext&, const v1::WithdrawObservationsRequest& request,
                                                 v1::WithdrawObservationsResponse&) {
    seen = request;
    return grpc::Status::OK;
  };
  ASSERT_TRUE(client_->WithdrawBatch("wing", 2, "twice", {.request_id = "mine"}).ok());
  EXPECT_EQ(seen.batch_data_version(), 2);
  EXPECT_EQ(seen.run_ids_size(), 0);
  EXPECT_EQ(seen.request_id(), "mine");
}

TEST_F(PutRightTest, OutputsAreCorrectedAndVariancesStayUnlessTheyAreGiven) {
  v1::CorrectObservationsRequest seen;
  server_.emulator().correct_observations = [&](grpc::ServerContext&, const v1::CorrectObservationsRequest& request,
                                                v1::CorrectObservationsResponse& response) {
    seen = request;
    response.set_corrected_count(2);
    response.set_current_revision_withdrawn_count(2);
    return grpc::Status::OK;
  };
  Correction correction{.run_ids = {"a", "b"}, .outputs = Eigen::Vector2d(0.25, 3)};
  const auto changed = client_->CorrectObservations("wing", correction, "wrong unit");
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(changed->changed, 2);
  EXPECT_EQ(changed->current_revision_withdrawn, 2);
  EXPECT_EQ(*FromWire(seen.outputs(), ""), Eigen::MatrixXd(Eigen::Vector2d(0.25, 3)));
  EXPECT_EQ(seen.run_ids(1), "b");
  EXPECT_EQ(seen.reason(), "wrong unit");
  EXPECT_FALSE(seen.has_noise_variances());
  EXPECT_FALSE(seen.request_id().empty());
  correction.noise_variances = Eigen::VectorXd::Constant(1, 0.5);
  ASSERT_TRUE(client_->CorrectObservations("wing", correction, "").ok());
  EXPECT_EQ(*FromWire(seen.noise_variances(), ""), Eigen::MatrixXd::Constant(1, 1, 0.5));
}

}  // namespace
}  // namespace fidelio::client
