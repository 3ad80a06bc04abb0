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

TEST_F(ObserveTest, RunIdsAndThePolicyForCopiesGoToTheServerAndItsCountsComeBack) {
  v1::AddObservationsRequest seen;
  server_.emulator().add_observations = [&](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                            v1::AddObservationsResponse& response) {
    seen = request;
    response.set_data_version(7);
    response.set_added_count(1);
    response.set_skipped_count(2);
    response.set_replayed_count(3);
    v1::ObservationWarning* warning = response.add_warnings();
    warning->set_kind(v1::OBSERVATION_WARNING_KIND_DUPLICATE);
    warning->set_count(2);
    warning->add_rows(0);
    warning->add_rows(4);
    warning->set_message("copies");
    return grpc::Status::OK;
  };
  const auto added = client_->AddObservations(
      "wing",
      {{.level = 0, .inputs = Eigen::MatrixXd::Ones(2, 1), .outputs = Eigen::VectorXd::Ones(2), .run_ids = {"a", "b"}}},
      {.duplicates = v1::DUPLICATE_POLICY_SKIP});
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(added->added, 1);
  EXPECT_EQ(added->skipped, 2);
  EXPECT_EQ(added->replayed, 3);
  ASSERT_EQ(added->warnings.size(), 1u);
  EXPECT_EQ(added->warnings[0].rows, (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(added->warnings[0].message, "copies");
  EXPECT_EQ(seen.duplicates(), v1::DUPLICATE_POLICY_SKIP);
  ASSERT_EQ(seen.observations(0).run_ids_size(), 2);
  EXPECT_EQ(seen.observations(0).run_ids(1), "b");
  EXPECT_FALSE(seen.request_id().empty());
}

TEST_F(ObserveTest, RowsThatAnOldServerDoesNotCountWereAdded) {
  server_.emulator().add_observations = [](grpc::ServerContext&, const v1::AddObservationsRequest&,
                                           v1::AddObservationsResponse&) { return grpc::Status::OK; };
  const auto added =
      client_->AddObservations("wing", {{.inputs = Eigen::MatrixXd::Ones(3, 1), .outputs = Eigen::VectorXd::Ones(3)}});
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(added->added, 3);
}

TEST_F(ObserveTest, WarningsAboutChunksAreSummedWithRowsOfTheWholeUpload) {
  server_.emulator().add_observations = [this](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                               v1::AddObservationsResponse& response) {
    ids_.Add(request.request_id());
    response.set_data_version(static_cast<int64_t>(ids_.size()));
    response.set_added_count(2);
    response.set_skipped_count(1);
    if (ids_.size() == 1) return grpc::Status::OK;
    v1::ObservationWarning* warning = response.add_warnings();
    warning->set_kind(v1::OBSERVATION_WARNING_KIND_DUPLICATE);
    warning->set_count(60);
    for (int i = 0; i < 60; ++i) warning->add_rows(i % 3);
    return grpc::Status::OK;
  };
  int left = 3;
  const auto next = [&]() -> absl::StatusOr<std::vector<Observations>> {
    if (left-- == 0) return std::vector<Observations>();
    return std::vector<Observations>{
        {.level = 0, .inputs = Eigen::MatrixXd::Ones(1, 1), .outputs = Eigen::VectorXd::Ones(1)},
        {.level = 1, .inputs = Eigen::MatrixXd::Ones(2, 1), .outputs = Eigen::VectorXd::Ones(2)}};
  };
  std::vector<size_t> own;  // warnings of each chunk
  const auto sum = client_->AddObservationChunks(
      "wing", next, [&](const AddedObservations& chunk) { own.push_back(chunk.warnings.size()); },
      AddOptions{.duplicates = v1::DUPLICATE_POLICY_SKIP});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(own, (std::vector<size_t>{0, 1, 1}));
  EXPECT_EQ(sum->data_version, 3);
  EXPECT_EQ(sum->added, 6);
  EXPECT_EQ(sum->skipped, 3);
  ASSERT_EQ(sum->warnings.size(), 1u);
  EXPECT_EQ(sum->warnings[0].count, 120);
  ASSERT_EQ(sum->warnings[0].rows.size(), kMostWarningRows);
  EXPECT_EQ(sum->warnings[0].rows[0], 3);   // the first row of the second chunk
  EXPECT_EQ(sum->warnings[0].rows[60], 6);  // the first row of the third chunk
  EXPECT_NE(sum->warnings[0].message.find("120 rows are exact copies"), std::string::npos);
}

TEST_F(ObserveTest, ChunksCannotConditionTheServedPosterior) {
  EXPECT_TRUE(
      IsError(client_->AddObservationChunks("wing", Chunks(1), {}, AddOptions{.update = ObservationUpdate::kCondition})
                  .status(),
              absl::StatusCode::kInvalidArgument, {"update"}));
}

TEST_F(ObserveTest, ListsShowIdsAndWhatWasWithdrawn) {
  server_.emulator().list_observations = [](grpc::ServerContext&, const v1::ListObservationsRequest& request,
                                            v1::ListObservationsResponse& response) {
    EXPECT_TRUE(request.show_withdrawn());
    EXPECT_FALSE(request.has_level());
    for (const int i : {0, 1}) {
      v1::ObservationBatch* batch = response.add_observations();
      *batch->mutable_inputs() = ToWire(Eigen::MatrixXd::Ones(1, 3));
      *batch->mutable_outputs() = ToWire(Eigen::VectorXd::Ones(1));
      batch->add_run_ids(i == 0 ? "2-1" : "mine");
      batch->set_data_version(2);
      batch->mutable_create_time()->set_seconds(1000);
      if (i == 0) continue;
      batch->mutable_withdrawal()->set_reason("a typo");
      batch->mutable_withdrawal()->set_data_version(3);
    }
    return grpc::Status::OK;
  };
  const auto all = client_->ListObservations("wing", {.show_withdrawn = true});
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].run_ids, std::vector<std::string>{"2-1"});
  EXPECT_EQ((*all)[0].data_version, 2);
  EXPECT_EQ((*all)[0].create_time.seconds(), 1000);
  EXPECT_FALSE((*all)[0].withdrawal.has_value());
  ASSERT_TRUE((*all)[1].withdrawal.has_value());
  EXPECT_EQ((*all)[1].withdrawal->reason(), "a typo");
}

}  // namespace
}  // namespace fidelio::client
