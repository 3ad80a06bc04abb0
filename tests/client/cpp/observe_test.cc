#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

class ObserveTest : public ::testing::Test {
 protected:
  ObserveTest() {
    ClientOptions options;
    options.channel.server = server_.address();
    options.retry.first_delay = absl::Milliseconds(1);
    options.retry.give_up_after = absl::Seconds(10);
    client_ = *Client::Connect(options);
  }

  // So many chunks of one observation.
  static std::function<absl::StatusOr<std::vector<Observations>>()> Chunks(int count) {
    return [left = count]() mutable -> absl::StatusOr<std::vector<Observations>> {
      if (left-- == 0) return std::vector<Observations>();
      return std::vector<Observations>{
          {.level = 0, .inputs = Eigen::MatrixXd::Ones(1, 1), .outputs = Eigen::VectorXd::Ones(1)}};
    };
  }

  Recorder<std::string> ids_;
  FakeServer server_;
  std::unique_ptr<Client> client_;
};

TEST_F(ObserveTest, EveryChunkIsACallWithAnIdOfItsOwnAlsoWhenItIsTriedAgain) {
  server_.emulator().add_observations = [this](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                               v1::AddObservationsResponse& response) {
    ids_.Add(request.request_id());
    response.set_data_version(static_cast<int64_t>(ids_.size()));
    return ids_.size() == 2 ? Unavailable() : grpc::Status::OK;
  };
  int heard = 0;
  const auto last = client_->AddObservationChunks("wing", Chunks(3), [&](const AddedObservations&) { ++heard; },
                                                  {.request_id = "night"});
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->data_version, 4);
  EXPECT_EQ(heard, 3);
  EXPECT_EQ(ids_.values(), (std::vector<std::string>{"night.0", "night.1", "night.1", "night.2"}));
}

TEST_F(ObserveTest, AnErrorEndsTheChunksAndWhatWasCommittedIsKnown) {
  server_.emulator().add_observations = [this](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                               v1::AddObservationsResponse&) {
    ids_.Add(request.request_id());
    return ids_.size() == 3 ? grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "disk full") : grpc::Status::OK;
  };
  int heard = 0;
  const auto last = client_->AddObservationChunks("wing", Chunks(9), [&](const AddedObservations&) { ++heard; });
  EXPECT_TRUE(IsError(last.status(), absl::StatusCode::kResourceExhausted, {"disk full"}));
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(ids_.size(), 3u);
}

TEST_F(ObserveTest, ObservationsAreListedPageByPageUntilThereAreEnough) {
  int pages = 0;
  server_.emulator().list_observations = [&](grpc::ServerContext&, const v1::ListObservationsRequest& request,
                                             v1::ListObservationsResponse& response) {
    EXPECT_EQ(request.parent(), "models/wing");
    EXPECT_EQ(request.level(), 1u);
    v1::ObservationBatch* batch = response.add_observations();
    batch->set_level(1);
    *batch->mutable_inputs() = ToWire(Eigen::MatrixXd::Constant(2, 3, ++pages));
    *batch->mutable_outputs() = ToWire(Eigen::VectorXd::Constant(2, pages));
    if (pages < 3) response.set_next_page_token("more");
    return grpc::Status::OK;
  };
  const auto all = client_->ListObservations("wing", 1, 1000);
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[2].inputs, Eigen::MatrixXd::Constant(2, 3, 3));
  EXPECT_EQ((*all)[2].level, 1);
  pages = 0;
  ASSERT_TRUE(client_->ListObservations("wing", 1, 3).ok());
  EXPECT_EQ(pages, 2);
}

TEST_F(ObserveTest, ShapesThatDoNotAgreeAreABugOfTheServer) {
  server_.emulator().list_observations = [](grpc::ServerContext&, const v1::ListObservationsRequest&,
                                            v1::ListObservationsResponse& response) {
    *response.add_observations()->mutable_inputs() = ToWire(Eigen::MatrixXd::Ones(2, 3));
    return grpc::Status::OK;
  };
  EXPECT_TRUE(IsError(client_->ListObservations("wing", {}, 10).status(), absl::StatusCode::kInternal, {"2 inputs"}));
}

}  // namespace
}  // namespace fidelio::client
