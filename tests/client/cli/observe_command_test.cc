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

// Counts every row of a request as a copy, or as far outside the box, and numbers data versions.
class WarnedObserveTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    server_.emulator().add_observations = [this](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                                 v1::AddObservationsResponse& response) {
      seen_ = request;
      response.set_data_version(++data_version_);
      int64_t rows = 0;
      for (const v1::ObservationBatch& batch : request.observations()) rows += batch.outputs().rows();
      const bool skip = request.duplicates() == v1::DUPLICATE_POLICY_SKIP;
      v1::ObservationWarning* warning = response.add_warnings();
      warning->set_kind(kind_);
      for (int64_t i = first_; i < rows; i += stride_) warning->add_rows(i);
      warning->set_count(warning->rows_size());
      warning->set_message("as the server puts it");
      response.set_skipped_count(skip ? warning->count() : 0);
      response.set_added_count(rows - response.skipped_count());
      return grpc::Status::OK;
    };
  }

  // Three rows, which the request has in the order of lines 3, 2, 4.
  Result Observe(const std::vector<std::string>& flags = {}) {
    std::vector<std::string> arguments = {"observe", "wing", "-"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return Run(arguments, "fidelity,x1,x2,y\nhigh,1,2,3\nlow,4,5,6\nhigh,7,8,9\n");
  }

  v1::ObservationWarningKind kind_ = v1::OBSERVATION_WARNING_KIND_DUPLICATE;
  int64_t first_ = 0;
  int64_t stride_ = 1;
  int64_t data_version_ = 1;
  v1::AddObservationsRequest seen_;
};

TEST_F(WarnedObserveTest, AFileLoadedTwiceIsMetWithTheCommandThatTakesItBack) {
  const Result result = Observe();
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err,
            "warning: 3 of 3 rows are exact copies of stored observations; remove them with `fidelio observations "
            "withdraw wing --batch 2`\n");
  EXPECT_EQ(seen_.duplicates(), v1::DUPLICATE_POLICY_UNSPECIFIED);
}

TEST_F(WarnedObserveTest, SomeCopiesAreNamedByTheirLinesAndIds) {
  first_ = 1;
  const Result result = Observe();
  EXPECT_EQ(result.err,
            "warning: 2 of 3 rows are exact copies of stored observations or of earlier rows (rows 2, 4); remove them "
            "with `fidelio observations withdraw wing 2-2 2-3`\n");
}

TEST_F(WarnedObserveTest, CopiesCanBeLeftOut) {
  const Result result = Observe({"--skip-duplicates"});
  EXPECT_EQ(seen_.duplicates(), v1::DUPLICATE_POLICY_SKIP);
  EXPECT_EQ(result.err, "warning: 3 of 3 rows are exact copies of stored observations and were left out\n");
  EXPECT_EQ(result.out.find("0 observations added to model wing"), 0u) << result.out;
}

TEST_F(WarnedObserveTest, ManyCopiesInALongFileAreTakenBackByBatch) {
  first_ = 1;
  std::string runs = "level,x1,x2,y\n";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&runs, "0,", i, ",0.5,", i, "\n");
  const Result result = Run({"observe", "wing", "-", "--chunk-rows", "20"}, runs);
  EXPECT_NE(result.err.find("38 of 40 rows are exact copies of stored observations or of earlier rows (rows 3-21, "
                            "23-41); to leave copies out, take the file back with `fidelio observations withdraw wing "
                            "--batch 2`, `fidelio observations withdraw wing --batch 3` and observe it again with "
                            "--skip-duplicates"),
            std::string::npos)
      << result.err;
}

TEST_F(WarnedObserveTest, RowsFarOutsideTheBoxAreNamedByTheirLinesAndIds) {
  kind_ = v1::OBSERVATION_WARNING_KIND_FAR_OUTSIDE_BOX;
  stride_ = 5;
  EXPECT_EQ(Observe().err,
            "warning: 1 of 3 rows lies more than three box widths outside the model's box (row 3): a typo, or a wrong "
            "unit? `fidelio observations withdraw wing 2-1` removes it\n");
}

TEST_F(WarnedObserveTest, WarningsAreInTheDocument) {
  first_ = 2;
  const Result result = Observe({"--json"});
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["added"], 3);
  EXPECT_EQ(json["skipped"], 0);
  ASSERT_EQ(json["warnings"].size(), 1u);
  EXPECT_EQ(json["warnings"][0]["kind"], "duplicate");
  EXPECT_EQ(json["warnings"][0]["count"], 1);
  EXPECT_EQ(json["warnings"][0]["rows"], Json({4}));
  EXPECT_EQ(json["warnings"][0]["run_ids"], Json({"2-3"}));
}

TEST_F(WarnedObserveTest, RowsMayHaveIds) {
  first_ = 1;
  const Result result = Run({"observe", "wing", "-"}, "run_id,fidelity,x1,x2,y\na,high,1,2,3\nb,low,4,5,6\n");
  EXPECT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(seen_.observations_size(), 2);
  EXPECT_EQ(seen_.observations(0).run_ids(0), "b");
  EXPECT_EQ(seen_.observations(1).run_ids(0), "a");
  EXPECT_NE(result.err.find("observations withdraw wing a`"), std::string::npos) << result.err;
  ASSERT_EQ(Run({"observe", "wing", "-"}, "run_id,fidelity,x1,x2,y\n,high,1,2,3\n").code, 0);
  EXPECT_EQ(seen_.observations(0).run_ids_size(), 0);
  const Result mixed = Run({"observe", "wing", "-"}, "run_id,fidelity,x1,x2,y\na,high,1,2,3\n,high,1,2,4\n");
  EXPECT_EQ(mixed.code, 3);
  EXPECT_NE(mixed.err.find("row 3, column run_id: empty, but other rows have an id"), std::string::npos) << mixed.err;
}

TEST_F(CliTest, ObserveSaysHowManyRowsWereThereAlready) {
  server_.emulator().add_observations = [](grpc::ServerContext&, const v1::AddObservationsRequest&,
                                           v1::AddObservationsResponse& response) {
    response.set_replayed_count(1);
    return grpc::Status::OK;
  };
  const Result result = Run({"observe", "wing", "-"}, "run_id,fidelity,x1,x2,y\na,high,1,2,3\n");
  EXPECT_NE(result.out.find("0 observations added"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("1 row was there already under the same run_id"), std::string::npos) << result.out;
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
  EXPECT_NE(result.err.find("disk full\n  8 rows were already added; the same command with --request-id night adds the "
                            "others, and none twice"),
            std::string::npos)
      << result.err;
}

TEST_F(LongObserveTest, ConditioningIsForAFewRows) {
  const Result result = Run({"observe", "wing", path_, "--chunk-rows", "4", "--condition"});
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("--condition: for a few rows only"), std::string::npos) << result.err;
  EXPECT_EQ(requests_.size(), 0u);
}

}  // namespace
}  // namespace fidelio::cli
