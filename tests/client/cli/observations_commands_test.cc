// fidelio observations list, withdraw, correct.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"
#include "tests/support/temp_directory.h"

namespace fidelio::cli {
namespace {

class ObservationsCliTest : public CliTest {
 protected:
  void SetUp() override {
    server_.emulator().get_model = [](grpc::ServerContext&, const v1::GetModelRequest& request, v1::Model& model) {
      model.set_name(request.name());
      model.set_input_dimension(2);
      model.add_inputs()->set_name("thickness");
      model.add_inputs()->set_name("load");
      model.add_outputs()->set_name("deflection");
      model.add_fidelities()->set_name("low");
      model.add_fidelities()->set_name("high");
      model.set_current_revision("models/wing/revisions/2");
      model.set_withdrawn_count(4);
      model.set_current_revision_withdrawn_count(3);
      return grpc::Status::OK;
    };
    server_.emulator().list_observations = [this](grpc::ServerContext&, const v1::ListObservationsRequest& request,
                                                  v1::ListObservationsResponse& response) {
      list_ = request;
      if (empty_) return grpc::Status::OK;
      v1::ObservationBatch* batch = response.add_observations();
      batch->set_level(1);
      *batch->mutable_inputs() = client::ToWire(Eigen::MatrixXd({{0.1, 2}, {0.3, 4}}));
      *batch->mutable_outputs() = client::ToWire(Eigen::Vector2d(1.0 / 3, 6));
      batch->add_run_ids("2-1");
      batch->add_run_ids("mine");
      batch->set_data_version(2);
      batch->mutable_create_time()->set_seconds(1715000000);
      if (!request.show_withdrawn()) return grpc::Status::OK;
      v1::ObservationBatch* gone = response.add_observations();
      *gone->mutable_inputs() = client::ToWire(Eigen::MatrixXd({{7, 8}}));
      *gone->mutable_outputs() = client::ToWire(Eigen::VectorXd::Constant(1, 9));
      *gone->mutable_noise_variances() = client::ToWire(Eigen::VectorXd::Constant(1, 0.5));
      gone->add_run_ids("1-1");
      gone->set_data_version(1);
      gone->mutable_withdrawal()->set_reason("bad, \"very\" bad");
      gone->mutable_withdrawal()->set_data_version(3);
      return grpc::Status::OK;
    };
    server_.emulator().withdraw_observations = [this](grpc::ServerContext&,
                                                      const v1::WithdrawObservationsRequest& request,
                                                      v1::WithdrawObservationsResponse& response) {
      withdraw_ = request;
      response.set_data_version(4);
      response.set_withdrawn_count(request.batch_data_version() > 0 ? 25 : request.run_ids_size());
      response.add_observation_counts(20);
      response.add_observation_counts(5);
      response.set_current_revision_withdrawn_count(3);
      return grpc::Status::OK;
    };
    server_.emulator().correct_observations = [this](grpc::ServerContext&,
                                                     const v1::CorrectObservationsRequest& request,
                                                     v1::CorrectObservationsResponse& response) {
      correct_ = request;
      response.set_data_version(5);
      response.set_corrected_count(request.run_ids_size());
      response.add_observation_counts(20);
      response.add_observation_counts(5);
      return grpc::Status::OK;
    };
  }

  bool empty_ = false;
  v1::ListObservationsRequest list_;
  v1::WithdrawObservationsRequest withdraw_;
  v1::CorrectObservationsRequest correct_;
  const TempDirectory directory_;
};

TEST_F(ObservationsCliTest, AreListedAsATableWithIdsAndNames) {
  const Result result = Run({"observations", "list", "wing", "--fidelity", "high"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out,
            "run_id  fidelity  thickness  load  deflection  data_version  time\n"
            "2-1     high      0.1        2     0.333333    2             2024-05-06 12:53:20\n"
            "mine    high      0.3        4     6           2             2024-05-06 12:53:20\n");
  EXPECT_EQ(list_.level(), 1u);
  EXPECT_FALSE(list_.show_withdrawn());
  empty_ = true;
  EXPECT_EQ(Run({"observations", "list", "wing"}).out, "no observations; `fidelio observe wing FILE` adds some\n");
}

TEST_F(ObservationsCliTest, AreWrittenAsCsvWithAllDigitsAndTheirHistory) {
  const std::string path = directory_ / "all.csv";
  ASSERT_EQ(Run({"observations", "list", "wing", "--withdrawn", "-o", path}).code, 0);
  const std::string csv =
      "run_id,fidelity,thickness,load,deflection,noise_variance,data_version,time,state,withdrawn_data_version,"
      "withdrawn_time,reason\n"
      "2-1,high,0.1,2,0.3333333333333333,,2,2024-05-06T12:53:20Z,in use,,,\n"
      "mine,high,0.3,4,6,,2,2024-05-06T12:53:20Z,in use,,,\n"
      "1-1,low,7,8,9,0.5,1,,withdrawn,3,,\"bad, \"\"very\"\" bad\"\n";
  EXPECT_EQ(FileContents(path), csv);
  EXPECT_EQ(Run({"observations", "list", "wing", "--withdrawn", "--csv"}).out, csv);
  EXPECT_TRUE(list_.show_withdrawn());
}

TEST_F(ObservationsCliTest, AreListedInJsonWithWhyTheyAreNoLongerInUse) {
  const Json json = Json::parse(Run({"observations", "list", "wing", "--withdrawn", "--json"}).out);
  EXPECT_EQ(json["input_names"], Json({"thickness", "load"}));
  ASSERT_EQ(json["observations"].size(), 3u);
  EXPECT_EQ(json["observations"][0]["run_id"], "2-1");
  EXPECT_EQ(json["observations"][0]["noise_variance"], Json());
  EXPECT_EQ(json["observations"][1]["input"], Json({0.3, 4.0}));
  EXPECT_EQ(json["observations"][2]["state"], "withdrawn");
  EXPECT_EQ(json["observations"][2]["withdrawal"]["reason"], "bad, \"very\" bad");
}

TEST_F(ObservationsCliTest, AreWithdrawnByIdAndItSaysToFitAgain) {
  const Result result = Run({"observations", "withdraw", "wing", "2-1", "mine", "--reason", "a typo"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out,
            "2 observations withdrawn from model wing, which now has 20 low and 5 high (data version 4)\n"
            "fit again: revision 2 still knows 3 withdrawn observations; `fidelio fit wing --watch` makes one without "
            "them\n");
  EXPECT_EQ(withdraw_.run_ids_size(), 2);
  EXPECT_EQ(withdraw_.run_ids(1), "mine");
  EXPECT_EQ(withdraw_.reason(), "a typo");
  const Json json = Json::parse(Run({"observations", "withdraw", "wing", "2-1", "--json"}).out);
  EXPECT_EQ(json["withdrawn"], 1);
  EXPECT_EQ(json["current_revision_withdrawn_count"], 3);
  EXPECT_EQ(json["current_revision"], "models/wing/revisions/2");
}

TEST_F(ObservationsCliTest, AreWithdrawnByBatchOrByAFileOfIds) {
  EXPECT_TRUE(absl::StartsWith(Run({"observations", "withdraw", "wing", "--batch", "2"}).out, "25 observations"));
  EXPECT_EQ(withdraw_.batch_data_version(), 2);
  ASSERT_EQ(Run({"observations", "withdraw", "wing", "--ids-file", "-"}, "# bad runs\n2-1\n\n 2-2 \n").code, 0);
  ASSERT_EQ(withdraw_.run_ids_size(), 2);
  EXPECT_EQ(withdraw_.run_ids(1), "2-2");
  ASSERT_EQ(Run({"observations", "withdraw", "wing", "a", "--ids-file", "-"}, "fidelity,run_id\nlow,b\nlow,c\n").code,
            0);
  ASSERT_EQ(withdraw_.run_ids_size(), 3);
  EXPECT_EQ(withdraw_.run_ids(2), "c");
  const Result none = Run({"observations", "withdraw", "wing", "--ids-file", "-"}, "# nothing\n");
  EXPECT_EQ(none.code, 3);
  EXPECT_TRUE(absl::StrContains(none.err, "has no ids")) << none.err;
}

TEST_F(ObservationsCliTest, WithdrawingNeedsIdsOrABatchAndNotBoth) {
  const Result none = Run({"observations", "withdraw", "wing"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(absl::StrContains(none.err, "--ids-file or --batch")) << none.err;
  EXPECT_EQ(Run({"observations", "withdraw", "wing", "a", "--batch", "2"}).code, 2);
  EXPECT_EQ(Run({"observations", "withdraw", "wing", "--batch", "0"}).code, 2);
}

TEST_F(ObservationsCliTest, ErrorsAboutIdsNameWhatWasTypedAndHaveTheirExitCodes) {
  server_.emulator().withdraw_observations = [](grpc::ServerContext&, const v1::WithdrawObservationsRequest& request,
                                                v1::WithdrawObservationsResponse&) {
    if (request.batch_data_version() > 0) {
      return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "batch_data_version: 9, but the newest is 4");
    }
    return grpc::Status(grpc::StatusCode::NOT_FOUND,
                        "run_ids[0]: \"2-9\": model \"wing\" has no observation with this id");
  };
  const Result missing = Run({"observations", "withdraw", "wing", "2-9"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_EQ(missing.err, "fidelio: ID, entry 1: \"2-9\": model \"wing\" has no observation with this id\n");
  const Result batch = Run({"observations", "withdraw", "wing", "--batch", "9"});
  EXPECT_EQ(batch.code, 3);
  EXPECT_EQ(batch.err, "fidelio: --batch: 9, but the newest is 4\n");
}

TEST_F(ObservationsCliTest, OutputsAreCorrectedAsTypedOrFromAFile) {
  const Result typed = Run({"observations", "correct", "wing", "2-1=0.25", "a=b=1e3", "--reason", "unit"});
  EXPECT_EQ(typed.code, 3);
  EXPECT_TRUE(absl::StrContains(typed.err, "\"a=b=1e3\" is not an id, an equals sign and a number")) << typed.err;
  const Result result = Run({"observations", "correct", "wing", "2-1=0.25", "mine=-1e3", "--reason", "unit"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "2 observations corrected in model wing, which now has 20 low and 5 high (data version 5)\n");
  EXPECT_EQ(correct_.run_ids(1), "mine");
  EXPECT_EQ(*client::FromWire(correct_.outputs(), ""), Eigen::MatrixXd(Eigen::Vector2d(0.25, -1000)));
  EXPECT_EQ(correct_.reason(), "unit");

  ASSERT_EQ(Run({"observations", "correct", "wing", "--file", "-"},
                "thickness,deflection,run_id,noise_variance\n1,2,a,\n3,4,b,\n")
                .code,
            0);
  EXPECT_EQ(*client::FromWire(correct_.outputs(), ""), Eigen::MatrixXd(Eigen::Vector2d(2, 4)));
  EXPECT_FALSE(correct_.has_noise_variances());
  ASSERT_EQ(Run({"observations", "correct", "wing", "--file", "-"}, "run_id,y,noise_variance\na,2,0.5\n").code, 0);
  EXPECT_EQ(*client::FromWire(correct_.noise_variances(), ""), Eigen::MatrixXd::Constant(1, 1, 0.5));
}

TEST_F(ObservationsCliTest, FilesOfCorrectionsThatMissSomethingAreExplained) {
  const auto error = [&](const std::string& text) {
    const Result result = Run({"observations", "correct", "wing", "--file", "-"}, text);
    EXPECT_EQ(result.code, 3);
    return result.err;
  };
  EXPECT_TRUE(absl::StrContains(error("y\n1\n"), "no column run_id"));
  EXPECT_TRUE(absl::StrContains(error("run_id,thickness\na,1\n"), "no column deflection or y"));
  EXPECT_TRUE(absl::StrContains(error("run_id,y\n,1\n"), "row 2, column run_id: empty"));
  EXPECT_EQ(Run({"observations", "correct", "wing"}).code, 2);
  EXPECT_EQ(Run({"observations", "correct", "wing", "a=1", "--file", "-"}).code, 2);
}

// What the list writes can be edited and given back.
TEST_F(ObservationsCliTest, AnEditedListIsAFileOfCorrections) {
  const std::string path = directory_ / "all.csv";
  ASSERT_EQ(Run({"observations", "list", "wing", "-o", path}).code, 0);
  ASSERT_EQ(Run({"observations", "correct", "wing", "--file", path}).code, 0);
  EXPECT_EQ(*client::FromWire(correct_.outputs(), ""), Eigen::MatrixXd(Eigen::Vector2d(1.0 / 3, 6)));
}

TEST_F(ObservationsCliTest, AModelShowsWhatItsRevisionStillKnows) {
  const Result result = Run({"model", "show", "wing"});
  EXPECT_TRUE(absl::StrContains(result.out, "4 observations")) << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "2, which still knows 3 withdrawn observations: fit again")) << result.out;
}

TEST_F(ObservationsCliTest, RevisionsShowWithdrawnObservationsWhereThereAreAny) {
  int64_t withdrawn = 0;
  server_.emulator().list_revisions = [&](grpc::ServerContext&, const v1::ListRevisionsRequest&,
                                          v1::ListRevisionsResponse& response) {
    response.add_revisions()->set_withdrawn_count(withdrawn);
    return grpc::Status::OK;
  };
  EXPECT_FALSE(absl::StrContains(Run({"revisions", "wing"}).out, "WITHDRAWN"));
  withdrawn = 17;
  const Result result = Run({"revisions", "wing"});
  EXPECT_TRUE(absl::StrContains(result.out, "WITHDRAWN")) << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "17")) << result.out;
}

TEST_F(CliTest, NamesThatNoModelCanHaveAreExplained) {
  server_.emulator().get_model = [](grpc::ServerContext&, const v1::GetModelRequest&, v1::Model&) {
    return grpc::Status(
        grpc::StatusCode::INVALID_ARGUMENT,
        "name: \"models/My_Wing\" is not models/{model} with {model} = [a-z]([a-z0-9-]{0,61}[a-z0-9])?");
  };
  const Result result = Run({"observations", "list", "My_Wing"});
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(absl::StrContains(result.err, "a name consists of lower-case letters, digits and hyphens")) << result.err;
}

}  // namespace
}  // namespace fidelio::cli
