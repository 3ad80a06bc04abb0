#include "client/cpp/client.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/cpp/matrix.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

class ClientTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> Connect(ClientOptions options = {}) {
    options.channel.server = server_.address();
    options.retry.first_delay = absl::Milliseconds(1);
    options.retry.longest_delay = absl::Milliseconds(10);
    auto client = Client::Connect(options);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

  // Answers `failures` calls of a handler with UNAVAILABLE, and records the request id of every call.
  template <typename Request, typename Response>
  Handler<Request, Response> FailFirst(size_t failures) {
    return [this, failures](grpc::ServerContext&, const Request& request, Response&) {
      ids_.Add(request.request_id());
      return ids_.size() <= failures ? Unavailable() : grpc::Status::OK;
    };
  }

  Recorder<std::string> ids_;
  FakeServer server_;
};

TEST_F(ClientTest, RetriesKeepTheRequestId) {
  server_.emulator().create_model = FailFirst<v1::CreateModelRequest, v1::Model>(2);
  ASSERT_TRUE(Connect()->CreateModel("wing", {}).ok());
  ASSERT_EQ(ids_.size(), 3u);
  EXPECT_FALSE(ids_.values()[0].empty());
  EXPECT_EQ(ids_.values()[0], ids_.values()[1]);
  EXPECT_EQ(ids_.values()[0], ids_.values()[2]);
}

TEST_F(ClientTest, EveryMutationHasARequestIdOfItsOwn) {
  server_.emulator().create_model = FailFirst<v1::CreateModelRequest, v1::Model>(0);
  server_.emulator().delete_model = FailFirst<v1::DeleteModelRequest, google::protobuf::Empty>(0);
  server_.emulator().add_observations = FailFirst<v1::AddObservationsRequest, v1::AddObservationsResponse>(0);
  server_.emulator().fit = FailFirst<v1::FitRequest, v1::Fit>(0);
  server_.emulator().cancel_fit = FailFirst<v1::CancelFitRequest, v1::Fit>(0);
  const auto client = Connect();
  ASSERT_TRUE(client->CreateModel("wing", {}).ok());
  ASSERT_TRUE(client->CreateModel("wing", {}).ok());
  ASSERT_TRUE(client->DeleteModel("wing").ok());
  ASSERT_TRUE(client->AddObservations("wing", {}).ok());
  ASSERT_TRUE(client->Fit("wing", {}).ok());
  ASSERT_TRUE(client->CancelFit("models/wing/fits/1").ok());
  const std::vector<std::string> ids = ids_.values();
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 6u);
}

TEST_F(ClientTest, ACallerMayChooseTheRequestId) {
  server_.emulator().fit = FailFirst<v1::FitRequest, v1::Fit>(1);
  ASSERT_TRUE(Connect()->Fit("wing", {}, {.request_id = "night-run"}).ok());
  EXPECT_EQ(ids_.values(), std::vector<std::string>({"night-run", "night-run"}));
}

TEST_F(ClientTest, AnIdThatIsNotOneReachesTheServerWhichRefusesIt) {
  Recorder<std::string> models;
  server_.emulator().create_model = [&](grpc::ServerContext&, const v1::CreateModelRequest& request, v1::Model&) {
    models.Add(request.model_id());
    return grpc::Status::OK;
  };
  const auto client = Connect();
  for (const char* id : {"wing", "models/wing", "a/wing"}) ASSERT_TRUE(client->CreateModel(id, {}).ok());
  EXPECT_EQ(models.values(), std::vector<std::string>({"wing", "wing", "a/wing"}));
}

TEST_F(ClientTest, ACallWaitsForAServerThatIsNotThereYet) {
  server_.emulator().create_model = FailFirst<v1::CreateModelRequest, v1::Model>(0);
  server_.Stop();
  absl::Notification failed;
  ClientOptions options;
  options.retry.on_retry = [&](const absl::Status&, absl::Duration) {
    if (!failed.HasBeenNotified()) failed.Notify();
  };
  const auto client = Connect(options);
  std::thread starter([&] {
    failed.WaitForNotification();
    server_.Start();
  });
  EXPECT_TRUE(client->CreateModel("wing", {}).ok());
  starter.join();
}

TEST_F(ClientTest, ACallGoesOnBeforeItsDelayIsOverWhenTheServerComes) {
  server_.emulator().create_model = FailFirst<v1::CreateModelRequest, v1::Model>(0);
  int port = 0;
  server_.Stop();
  server_.Start(grpc::InsecureServerCredentials(), "127.0.0.1:0", &port);
  server_.Stop();
  const std::string address = absl::StrCat("127.0.0.1:", port);
  absl::Notification failed;
  absl::Time begin;
  absl::Duration announced;
  ClientOptions options{.channel = {.server = address}};
  options.retry.first_delay = options.retry.longest_delay = absl::Seconds(30);
  options.retry.on_retry = [&](const absl::Status&, absl::Duration delay) {
    if (failed.HasBeenNotified()) return;
    begin = absl::Now();
    announced = delay;
    failed.Notify();
  };
  const auto client = Client::Connect(options);
  std::thread starter([&] {
    failed.WaitForNotification();
    server_.Start(grpc::InsecureServerCredentials(), address);
  });
  EXPECT_TRUE((*client)->CreateModel("wing", {}).ok());
  EXPECT_LT(absl::Now() - begin, announced);
  starter.join();
}

TEST_F(ClientTest, WithoutAServerTheErrorNamesWhereItShouldBe) {
  server_.Stop();
  ClientOptions options;
  options.retry.give_up_after = absl::ZeroDuration();
  EXPECT_TRUE(IsError(Connect(options)->GetModel("wing").status(), absl::StatusCode::kUnavailable,
                      {"server " + server_.address()}));
}

TEST_F(ClientTest, TheDeadlineEndsACallThatHangs) {
  server_.emulator().get_model = [](grpc::ServerContext& context, const v1::GetModelRequest&, v1::Model&) {
    while (!context.IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  };
  EXPECT_TRUE(IsError(Connect()->GetModel("wing", {.timeout = absl::Milliseconds(50)}).status(),
                      absl::StatusCode::kDeadlineExceeded, {server_.address()}));
}

TEST_F(ClientTest, TheDeadlineEndsRetries) {
  server_.emulator().create_model = FailFirst<v1::CreateModelRequest, v1::Model>(1'000'000);
  const absl::Status status = Connect()->CreateModel("wing", {}, {.timeout = absl::Milliseconds(100)}).status();
  EXPECT_TRUE(absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) << status;
  EXPECT_GT(ids_.size(), 1u);
}

TEST_F(ClientTest, TheTokenGoesWithEveryCall) {
  server_.emulator().get_model = [](grpc::ServerContext& context, const v1::GetModelRequest&, v1::Model& model) {
    const auto found = context.client_metadata().find("authorization");
    if (found == context.client_metadata().end()) return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "no token");
    model.set_description(std::string(found->second.data(), found->second.size()));
    return grpc::Status::OK;
  };
  ClientOptions options;
  options.channel.token = "s3cret";
  EXPECT_EQ(Connect(options)->GetModel("wing")->description(), "Bearer s3cret");
  EXPECT_TRUE(absl::IsUnauthenticated(Connect()->GetModel("wing").status()));
}

TEST_F(ClientTest, AllPagesOfAListAreRead) {
  server_.emulator().list_models = [](grpc::ServerContext&, const v1::ListModelsRequest& request,
                                      v1::ListModelsResponse& response) {
    const int page = request.page_token().empty() ? 0 : std::stoi(request.page_token());
    response.add_models()->set_name("models/m" + std::to_string(page));
    if (page < 2) response.set_next_page_token(std::to_string(page + 1));
    return grpc::Status::OK;
  };
  const auto models = Connect()->ListModels();
  ASSERT_TRUE(models.ok());
  ASSERT_EQ(models->size(), 3u);
  EXPECT_EQ(models->back().name(), "models/m2");
}

TEST_F(ClientTest, ARevisionIsDeletedByItsNumberOnceForAllAttempts) {
  Recorder<v1::DeleteRevisionRequest> seen;
  server_.emulator().delete_revision = [&](grpc::ServerContext&, const v1::DeleteRevisionRequest& request,
                                           google::protobuf::Empty&) {
    seen.Add(request);
    return seen.size() == 1 ? Unavailable() : grpc::Status::OK;
  };
  EXPECT_TRUE(Connect()->DeleteRevision("wing", "3", {.etag = "e"}).ok());
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen.values()[0].name(), "models/wing/revisions/3");
  EXPECT_EQ(seen.values()[0].etag(), "e");
  EXPECT_FALSE(seen.values()[0].request_id().empty());
  EXPECT_EQ(seen.values()[0].request_id(), seen.values()[1].request_id());
}

TEST_F(ClientTest, ObservationsArriveAsTheyWere) {
  v1::AddObservationsRequest seen;
  server_.emulator().add_observations = [&](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                            v1::AddObservationsResponse& response) {
    seen = request;
    response.set_data_version(4);
    response.add_observation_counts(2);
    response.add_observation_counts(0);
    response.set_etag("e");
    return grpc::Status::OK;
  };
  Observations batch;
  batch.level = 0;
  batch.inputs = Eigen::MatrixXd::Random(2, 3);
  batch.outputs = Eigen::Vector2d(1, 2);
  const auto added = Connect()->AddObservations("wing", {batch}, {.etag = "before"});
  ASSERT_TRUE(added.ok());
  EXPECT_EQ(added->data_version, 4);
  EXPECT_EQ(added->counts, std::vector<int64_t>({2, 0}));
  EXPECT_EQ(added->etag, "e");
  EXPECT_EQ(seen.model(), "models/wing");
  EXPECT_EQ(seen.etag(), "before");
  ASSERT_EQ(seen.observations_size(), 1);
  EXPECT_TRUE(seen.observations(0).has_level());
  EXPECT_EQ(*FromWire(seen.observations(0).inputs(), ""), batch.inputs);
  EXPECT_EQ(*FromWire(seen.observations(0).outputs(), ""), Eigen::MatrixXd(batch.outputs));
  EXPECT_FALSE(seen.observations(0).has_noise_variances());
}

// Answers mean x1, variance 1 and quantiles (x1 − 1, x1 + 1), from revision 5 unless another is asked for.
grpc::Status EchoInputs(const v1::PredictRequest& request, v1::PredictResponse& response) {
  const Eigen::MatrixXd x = *FromWire(request.inputs(), "inputs");
  *response.mutable_prediction()->mutable_mean() = ToWire(x.col(0));
  *response.mutable_prediction()->mutable_variance() = ToWire(Eigen::VectorXd::Ones(x.rows()));
  if (request.options().quantiles_size() == 2) {
    Eigen::MatrixXd quantiles(x.rows(), 2);
    quantiles << x.col(0).array() - 1, x.col(0).array() + 1;
    *response.mutable_prediction()->mutable_quantiles() = ToWire(quantiles);
  }
  response.set_revision(request.revision().empty() ? "models/wing/revisions/5" : request.revision());
  response.set_data_version(9);
  return grpc::Status::OK;
}

TEST_F(ClientTest, PredictionsComeBackAsMatrices) {
  server_.emulator().predict = [](grpc::ServerContext&, const v1::PredictRequest& request,
                                  v1::PredictResponse& response) { return EchoInputs(request, response); };
  const Eigen::MatrixXd x = Eigen::MatrixXd::Random(4, 2);
  const auto p = Connect()->Predict("wing", x, {.quantiles = {0.1, 0.9}});
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->mean, Eigen::VectorXd(x.col(0)));
  EXPECT_EQ(p->variance, Eigen::VectorXd(Eigen::VectorXd::Ones(4)));
  EXPECT_EQ(p->quantiles.col(1), Eigen::VectorXd(x.col(0).array() + 1));
  EXPECT_EQ(p->covariance.size(), 0);
  EXPECT_EQ(p->revision, "models/wing/revisions/5");
  EXPECT_EQ(p->data_version, 9);
}

TEST_F(ClientTest, ManyInputsArePredictedInPartsByOneRevision) {
  Recorder<std::string> revisions;
  server_.emulator().predict = [&](grpc::ServerContext&, const v1::PredictRequest& request,
                                   v1::PredictResponse& response) {
    revisions.Add(request.revision());
    return EchoInputs(request, response);
  };
  const Eigen::MatrixXd x = Eigen::MatrixXd::Random(1'200'000, 1);
  const auto p = Connect()->Predict("wing", x);
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->mean, Eigen::VectorXd(x.col(0)));
  EXPECT_EQ(revisions.values(), std::vector<std::string>({"", "models/wing/revisions/5", "models/wing/revisions/5",
                                                          "models/wing/revisions/5"}));
}

TEST_F(ClientTest, MediansAndWarningsOfAllPartsComeBack) {
  bool medians = true;
  server_.emulator().predict = [&](grpc::ServerContext&, const v1::PredictRequest& request,
                                   v1::PredictResponse& response) {
    if (medians) *response.mutable_prediction()->mutable_median() = request.inputs();
    response.mutable_prediction()->add_warnings("skewed");
    return EchoInputs(request, response);
  };
  for (const int n : {3, 400'000}) {
    const Eigen::MatrixXd x = Eigen::MatrixXd::Random(n, 1);
    const auto p = Connect()->Predict("wing", x);
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_EQ(p->median, Eigen::VectorXd(x.col(0)));
    EXPECT_EQ(p->warnings, std::vector<std::string>(n == 3 ? 1 : 2, "skewed"));
    medians = false;  // an older server
    EXPECT_EQ(Connect()->Predict("wing", x)->median.size(), 0);
    medians = true;
  }
}

TEST_F(ClientTest, AnAnswerOfTheWrongShapeIsAnErrorOfTheServer) {
  server_.emulator().predict = [](grpc::ServerContext&, const v1::PredictRequest& request,
                                  v1::PredictResponse& response) {
    const grpc::Status status = EchoInputs(request, response);
    *response.mutable_prediction()->mutable_variance() = ToWire(Eigen::VectorXd::Ones(1));
    return status;
  };
  EXPECT_TRUE(IsError(Connect()->Predict("wing", Eigen::MatrixXd::Zero(3, 1)).status(), absl::StatusCode::kInternal,
                      {"variance of 1 × 1, but 3 × 1 were requested"}));
}

}  // namespace
}  // namespace fidelio::client
