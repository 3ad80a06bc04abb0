// The program fidelio-server on a disk without space: a limit on the size of its files, which it meets as it would a full
// disk, and which can be lifted while it runs.
#include <signal.h>
#include <sys/resource.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"
#include "tests/e2e/e2e_server.h"

namespace fidelio {
namespace {

// Bytes that any file of the process may have; the hard limit stays, so that it can be raised again.
void LimitFiles(E2eServer& server, rlim_t bytes) {
  rlimit limit;
  ASSERT_EQ(prlimit(server.process().pid(), RLIMIT_FSIZE, nullptr, &limit), 0);
  limit.rlim_cur = bytes;
  ASSERT_EQ(prlimit(server.process().pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
}

// 500 observations of the lowest fidelity, all of them `value`.
grpc::Status Add(E2eServer& server, int value, const std::string& request_id) {
  v1::AddObservationsRequest request;
  request.set_model("models/wing");
  request.set_request_id(request_id);
  v1::ObservationBatch* batch = request.add_observations();
  batch->set_level(0);
  std::vector<double> x;
  for (int i = 0; i < 500; ++i) x.push_back(0.002 * i);
  *batch->mutable_inputs() = Column(x);
  *batch->mutable_outputs() = Column(std::vector<double>(500, value));
  v1::AddObservationsResponse answer;
  Context context;
  return server.stub().AddObservations(&context, request, &answer);
}

// The values of all batches of Add, in the order of their data versions.
std::vector<int> AddedValues(E2eServer& server) {
  std::vector<int> values;
  v1::ListObservationsRequest request;
  request.set_parent("models/wing");
  v1::ListObservationsResponse answer;
  do {
    Context context;
    const grpc::Status status = server.stub().ListObservations(&context, request, &answer);
    ExpectOk(status);
    if (!status.ok()) return {};
    for (const v1::ObservationBatch& batch : answer.observations()) {
      if (batch.data_version() == 1) continue;  // of CreateAndObserve
      EXPECT_EQ(batch.outputs().rows(), 500u);
      double value = 0;
      std::memcpy(&value, batch.outputs().f64_le().data(), sizeof value);
      values.push_back(static_cast<int>(value));
    }
    request.set_page_token(answer.next_page_token());
  } while (!answer.next_page_token().empty());
  return values;
}

class DiskFullTest : public ::testing::Test {
 protected:
  // A fitted model, then batches until there is no space left. Answers the values that were acknowledged.
  std::vector<int> FillUp(E2eServer& server) {
    CreateAndObserve(server.stub());
    const v1::Fit fit = WatchToTheEnd(server.stub(), StartFit(server.stub(), 40).name());
    EXPECT_EQ(fit.state(), v1::FIT_STATE_SUCCEEDED) << fit.DebugString();
    predicted_ = Predict(server.stub());
    LimitFiles(server, std::filesystem::file_size(data_ + "/fidelio.db") + 40'000);
    std::vector<int> acknowledged;
    for (int value = 1; value <= 100; ++value) {
      refusal_ = Add(server, value, absl::StrCat("batch-", value));
      if (!refusal_.ok()) break;
      acknowledged.push_back(value);
    }
    EXPECT_GT(acknowledged.size(), 1u);
    EXPECT_LT(acknowledged.size(), 100u);
    return acknowledged;
  }

  const TempDirectory directory_;
  const std::string data_ = directory_ / "data";
  std::string predicted_;
  grpc::Status refusal_;  // of the first batch without space
};

TEST_F(DiskFullTest, WritesAreExhaustedAndSayWhenToTryAgainWhilePredictGoesOn) {
  E2eServer server(data_);
  const std::vector<int> acknowledged = FillUp(server);
  EXPECT_EQ(refusal_.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << refusal_.error_message();
  EXPECT_NE(refusal_.error_message().find("no space left"), std::string::npos) << refusal_.error_message();
  google::rpc::Status trailer;
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(trailer.ParseFromString(refusal_.error_details()));
  ASSERT_EQ(trailer.details_size(), 1);
  ASSERT_TRUE(trailer.details(0).UnpackTo(&retry)) << trailer.DebugString();
  EXPECT_GT(retry.retry_delay().seconds(), 0);

  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Add(server, 1000 + i, absl::StrCat("other-", i)).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(Predict(server.stub()), predicted_);
  }
  EXPECT_EQ(AddedValues(server), acknowledged);
}

TEST_F(DiskFullTest, WritesWorkAgainAfterSpaceReturnsAndNothingIsLost) {
  std::vector<int> acknowledged;
  {
    E2eServer server(data_);
    acknowledged = FillUp(server);
    LimitFiles(server, RLIM_INFINITY);
    // The refused batch, as a client that tries again sends it; and once more, as if its answer had been lost.
    acknowledged.push_back(acknowledged.back() + 1);
    for (int i = 0; i < 2; ++i) {
      ExpectOk(Add(server, acknowledged.back(), absl::StrCat("batch-", acknowledged.back())));
    }
    ExpectOk(Add(server, 500, "another"));
    acknowledged.push_back(500);
    EXPECT_EQ(AddedValues(server), acknowledged);
    server.process().Signal(SIGTERM);
    EXPECT_EQ(server.process().Wait(), 0);
  }
  const CommandResult check = RunServer({"--check", "--data-dir", data_});
  EXPECT_EQ(check.code, 0) << check.output;
  E2eServer server(data_);
  EXPECT_EQ(AddedValues(server), acknowledged);
  EXPECT_EQ(Predict(server.stub()), predicted_);
}

TEST_F(DiskFullTest, AKillWhileThereIsNoSpaceLosesNothing) {
  std::vector<int> acknowledged;
  {
    E2eServer server(data_);
    acknowledged = FillUp(server);
    server.process().Kill();
  }
  const CommandResult check = RunServer({"--check", "--data-dir", data_});
  EXPECT_EQ(check.code, 0) << check.output;
  E2eServer server(data_);
  EXPECT_EQ(AddedValues(server), acknowledged);
  EXPECT_EQ(Predict(server.stub()), predicted_);
}

TEST_F(DiskFullTest, AFitThatRunsMeanwhileSucceedsInTheEnd) {
  E2eServer server(data_);
  CreateAndObserve(server.stub());
  const v1::Fit fit = StartFit(server.stub(), 300);
  LimitFiles(server, 4096);  // no page fits into the journal
  EXPECT_EQ(Add(server, 1, "batch").error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  LimitFiles(server, RLIM_INFINITY);
  const v1::Fit ended = WatchToTheEnd(server.stub(), fit.name());
  EXPECT_EQ(ended.state(), v1::FIT_STATE_SUCCEEDED) << ended.DebugString();
  EXPECT_FALSE(Predict(server.stub()).empty());
}

}  // namespace
}  // namespace fidelio
