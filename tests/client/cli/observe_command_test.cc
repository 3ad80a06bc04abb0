#include "absl/strings/str_cat.h"
#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"
#include "tests/support/temp_directory.h"

namespace fidelio::cli {
namespace {

TEST_F(CliTest, ObserveSendsOneBatchPerLevel) {
  v1::AddObservationsRequest seen;
  server_.emulator().add_observations = [&](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                            v1::AddObservationsResponse& response) {
    seen = request;
    response.set_data_version(1);
    response.add_observation_counts(1);
    response.add_observation_counts(2);
    return grpc::Status::OK;
  };
  const Result result = Run({"observe", "wing", "-"}, "fidelity,x1,x2,y\nhigh,1,2,3\nlow,4,5,6\nhigh,7,8,9\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "3 observations added to model wing, which now has 1 low and 2 high (data version 1)\n");
  EXPECT_EQ(result.err, "");
  ASSERT_EQ(seen.observations_size(), 2);
  EXPECT_EQ(seen.observations(1).level(), 1u);
  EXPECT_EQ(seen.observations(1).inputs().rows(), 2u);
}

TEST_F(CliTest, ObserveCanConditionTheServedPosterior) {
  server_.emulator().add_observations = [&](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                            v1::AddObservationsResponse& response) {
    EXPECT_EQ(request.update(), v1::OBSERVATION_UPDATE_CONDITION);
    response.set_data_version(4);
    response.set_revision("models/wing/revisions/3");
    response.add_observation_counts(1);
    response.add_observation_counts(2);
    return grpc::Status::OK;
  };
  const Result result = Run({"observe", "wing", "-", "--condition"}, "fidelity,x1,x2,y\nhigh,1,2,3\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out,
            "1 observation added to model wing, which now has 1 low and 2 high (data version 4, revision 3)\n");
}

TEST_F(CliTest, ObserveNamesTheFieldThatIsWrongAndSendsNothing) {
  const Result result = Run({"observe", "wing", "-"}, "level,x1,x2,y\n0,1,abc,3\n");
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.err, "fidelio: standard input: row 2, column x2: \"abc\" is not a number\n");
}

class LongObserveTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    server_.emulator().add_observations = [this](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                                 v1::AddObservationsResponse& response) {
      requests_.Add(request);
      response.set_data_version(static_cast<int64_t>(requests_.size()));
      if (requests_.size() == fails_at_) {
        return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "disk full");
      }
      return grpc::Status::OK;
    };
    std::ofstream file(path_);
    file << "level,x1,x2,y\n";
    for (int i = 0; i < 10; ++i) file << i % 2 << "," << i << ",0.5," << 2 * i << "\n";
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "runs.csv";
  size_t fails_at_ = 0;
  Recorder<v1::AddObservationsRequest> requests_;
};

TEST_F(LongObserveTest, LongFilesGoInPartsEachWithAnIdOfItsOwn) {
  const Result result = Run({"observe", "wing", path_, "--chunk-rows", "4", "--request-id", "night"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("10 observations added to model wing"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find(" 40 %  4 of 10 rows"), std::string::npos) << result.err;
  ASSERT_EQ(requests_.size(), 3u);
  EXPECT_EQ(requests_.values()[0].request_id(), "night.0");
  EXPECT_EQ(requests_.values()[2].request_id(), "night.2");
  EXPECT_EQ(requests_.values()[0].observations_size(), 2);
  EXPECT_EQ(*client::FromWire(requests_.values()[2].observations(1).inputs(), ""), Eigen::MatrixXd({{9, 0.5}}));
}

TEST_F(LongObserveTest, AMistakeInTheLastRowSendsNothingAtAll) {
  std::ofstream(path_, std::ios::app) << "1,2,zero,4\n";
  const Result result = Run({"observe", "wing", path_, "--chunk-rows", "4"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.err, absl::StrCat("fidelio: ", path_, ": row 12, column x2: \"zero\" is not a number\n"));
  EXPECT_EQ(requests_.size(), 0u);
}

TEST_F(LongObserveTest, WhatWasAddedBeforeAnErrorIsToldAndHowToGoOn) {
  fails_at_ = 3;
  const Result result = Run({"observe", "wing", path_, "--chunk-rows", "4", "--request-id", "night"});
  EXPECT_EQ(result.code, 8);
  EXPECT_NE(result.err.find("disk full\n  8 rows were added before; the same command with --request-id night adds the "
                            "others, and none twice"),
            std::string::npos)
      << result.err;
}

TEST_F(LongObserveTest, ConditioningIsForAFewRows) {
  const Result result = Run({"observe", "wing", path_, "--chunk-rows", "4", "--condition"});
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("--condition: is for a few rows"), std::string::npos) << result.err;
  EXPECT_EQ(requests_.size(), 0u);
}

}  // namespace
}  // namespace fidelio::cli
