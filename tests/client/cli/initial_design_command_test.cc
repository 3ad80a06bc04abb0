// fidelio design.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"
#include "tests/support/temp_directory.h"

namespace fidelio::cli {
namespace {

class InitialDesignCliTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    server_.emulator().initial_design = [this](grpc::ServerContext&, const v1::InitialDesignRequest& request,
                                               v1::InitialDesignResponse& response) {
      seen_ = request;
      for (const v1::FidelityCount& count : request.counts()) {
        v1::FidelityInputs* design = response.add_designs();
        design->set_level(count.level());
        design->set_fidelity(count.level() == 0 ? "low" : "high");
        Eigen::MatrixXd x(count.count(), 2);
        for (Eigen::Index i = 0; i < x.rows(); ++i) x.row(i) << 0.1 * static_cast<double>(i + 1), count.level();
        *design->mutable_inputs() = client::ToWire(x);
      }
      response.set_total_cost(12);
      return grpc::Status::OK;
    };
  }

  v1::InitialDesignRequest seen_;
  const TempDirectory directory_;
};

TEST_F(InitialDesignCliTest, WritesTheTableThatObserveTakesOnceOutputsAreFilledIn) {
  const std::string path = directory_ / "runs.csv";
  const Result design = Run({"design", "wing", "--fidelity", "low=2,high=1", "-o", path});
  EXPECT_EQ(design.code, 0) << design.err;
  EXPECT_EQ(design.err,
            absl::StrCat("3 runs (2 low, 1 high) at a cost of 12: run the simulator, fill in the column y, then "
                         "`fidelio observe wing ",
                         path, "`\n"));
  const std::string table = FileContents(path);
  EXPECT_EQ(table, "fidelity,x1,x2,y\nlow,0.1,0,\nlow,0.2,0,\nhigh,0.1,1,\n");

  v1::AddObservationsRequest observed;
  server_.emulator().add_observations = [&](grpc::ServerContext&, const v1::AddObservationsRequest& request,
                                            v1::AddObservationsResponse&) {
    observed = request;
    return grpc::Status::OK;
  };
  const Result unfilled = Run({"observe", "wing", path});
  EXPECT_EQ(unfilled.code, 3);
  EXPECT_EQ(unfilled.err,
            absl::StrCat("fidelio: ", path,
                         ": row 2, column y: empty, must be the output of this run; 3 rows have no output: fill in the "
                         "outputs, or remove rows that were not run\n"));
  EXPECT_EQ(observed.observations_size(), 0);

  std::ofstream(path) << absl::StrReplaceAll(table, {{",\n", ",7\n"}});
  const Result filled = Run({"observe", "wing", path});
  EXPECT_EQ(filled.code, 0) << filled.err;
  ASSERT_EQ(observed.observations_size(), 2);
  EXPECT_EQ(*client::FromWire(observed.observations(0).inputs(), ""), Eigen::MatrixXd({{0.1, 0}, {0.2, 0}}));
  EXPECT_EQ(*client::FromWire(observed.observations(1).outputs(), ""), Eigen::MatrixXd::Constant(1, 1, 7));
}

TEST_F(InitialDesignCliTest, ColumnsHaveTheNamesOfTheModel) {
  server_.emulator().get_model = [](grpc::ServerContext&, const v1::GetModelRequest& request, v1::Model& model) {
    model.set_name(request.name());
    model.set_input_dimension(2);
    model.add_inputs()->set_name("thickness");
    model.add_inputs()->set_name("load");
    model.add_outputs()->set_name("deflection");
    model.add_fidelities()->set_name("low");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"design", "wing", "--fidelity", "1"}).out, "fidelity,thickness,load,deflection\nlow,0.1,0,\n");
  const Json json = Json::parse(Run({"design", "wing", "--fidelity", "low=1", "--json"}).out);
  EXPECT_EQ(json["input_names"], Json({"thickness", "load"}));
  EXPECT_EQ(json["designs"][0]["fidelity"], "low");
  EXPECT_EQ(json["designs"][0]["inputs"], Json::parse("[[0.1, 0.0]]"));
  EXPECT_EQ(json["total_cost"], 12);
}

TEST_F(InitialDesignCliTest, SendsWhatWasTyped) {
  const Result result = Run({"design", "wing", "--fidelity", "1=3", "--method", "latin-hypercube", "--nested", "--seed",
                             "7", "--pending", "-"},
                            "fidelity,x1,x2,y\nhigh,1,2,\nlow,3,4,\nhigh,5,6,\n");
  EXPECT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(seen_.counts_size(), 1);
  EXPECT_EQ(seen_.counts(0).level(), 1u);
  EXPECT_EQ(seen_.counts(0).count(), 3u);
  EXPECT_EQ(seen_.method(), v1::INITIAL_DESIGN_METHOD_LATIN_HYPERCUBE);
  EXPECT_TRUE(seen_.nested());
  EXPECT_EQ(seen_.seed(), 7u);
  ASSERT_EQ(seen_.pending_size(), 2);
  EXPECT_EQ(*client::FromWire(seen_.pending(0).inputs(), ""), Eigen::MatrixXd({{3, 4}}));
  EXPECT_EQ(*client::FromWire(seen_.pending(1).inputs(), ""), Eigen::MatrixXd({{1, 2}, {5, 6}}));
}

TEST_F(InitialDesignCliTest, NumbersOfRunsThatMakeNoSenseAreExplained) {
  const auto error = [&](const std::string& counts) {
    const Result result = Run({"design", "wing", "--fidelity", counts});
    EXPECT_EQ(result.code, 3) << counts;
    return result.err;
  };
  const char* const rule = "is not a fidelity, an equals sign and a number of runs, as in high=10";
  for (const char* counts : {"40", "low=", "low=0", "low=x", "low=2.5", "low"}) {
    EXPECT_NE(error(counts).find(rule), std::string::npos) << counts;
  }
  EXPECT_NE(error("middle=3").find("--fidelity: \"middle\" is not a fidelity of model \"wing\""), std::string::npos);
  EXPECT_NE(error("low=3,0=2").find("low is given twice"), std::string::npos);
  EXPECT_EQ(Run({"design", "wing"}).code, 2);
  EXPECT_EQ(Run({"design", "wing", "--fidelity", "low=1", "--method", "x"}).code, 2);
  server_.emulator().initial_design = [](grpc::ServerContext&, const v1::InitialDesignRequest&,
                                         v1::InitialDesignResponse&) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "counts[1].count: 200000, must be 1 to 100000");
  };
  EXPECT_EQ(error("low=1,high=200000"), "fidelio: --fidelity, entry 2: 200000, must be 1 to 100000\n");
}

TEST_F(InitialDesignCliTest, PendingRunsOfNoFidelityAreRefused) {
  const Result result = Run({"design", "wing", "--fidelity", "low=1", "--pending", "-"}, "x1,x2\n1,2\n");
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("standard input: header: no column fidelity"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace fidelio::cli
