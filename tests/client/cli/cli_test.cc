#include "client/cli/cli.h"

#include <atomic>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"
#include "tests/support/temp_directory.h"

namespace fidelio::cli {
namespace {

class FitCliTest : public CliTest {
 protected:
  void FitEndsAs(const v1::Fit& end) {
    server_.emulator().fit = [this](grpc::ServerContext&, const v1::FitRequest& request, v1::Fit& fit) {
      seen_ = request;
      fit = MakeFit(v1::FIT_STATE_PENDING);
      return grpc::Status::OK;
    };
    server_.emulator().watch_fit = [end](grpc::ServerContext&, grpc::ServerWriter<v1::WatchFitResponse>& writer) {
      for (const v1::Fit& fit : {MakeFit(v1::FIT_STATE_RUNNING, 0.5), end}) {
        v1::WatchFitResponse event;
        *event.mutable_fit() = fit;
        writer.Write(event);
      }
      return grpc::Status::OK;
    };
  }

  v1::FitRequest seen_;
};

TEST_F(FitCliTest, WatchShowsProgressAndTheRevision) {
  FitEndsAs(MakeFit(v1::FIT_STATE_SUCCEEDED, 1));
  const Result result = Run({"fit", "wing", "--watch", "--seed", "7", "--kernel", "matern52", "--budget-seconds", "9"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "fit 3 succeeded after 0.00 s and created revision 2\n");
  EXPECT_NE(result.err.find(" 50 %  sample"), std::string::npos);
  EXPECT_EQ(seen_.options().seed(), 7u);
  EXPECT_EQ(seen_.options().kernel_family(), v1::KERNEL_FAMILY_MATERN_5_2);
  EXPECT_EQ(seen_.options().budget().seconds(), 9);
  EXPECT_FALSE(seen_.options().budget().has_iterations());
}

TEST_F(FitCliTest, WatchInJsonPrintsOneDocument) {
  FitEndsAs(MakeFit(v1::FIT_STATE_SUCCEEDED, 1));
  const Result result = Run({"fit", "wing", "--watch", "--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(Json::parse(result.out)["state"], "FIT_STATE_SUCCEEDED");
  EXPECT_EQ(result.err, "");
}

TEST_F(FitCliTest, AFitThatFailedHasItsOwnExitCodeAndSaysWhy) {
  v1::Fit end = MakeFit(v1::FIT_STATE_FAILED, 0.5);
  end.mutable_error()->set_code(8);
  end.mutable_error()->set_message("out of memory");
  FitEndsAs(end);
  const Result result = Run({"fit", "wing", "--watch"});
  EXPECT_EQ(result.code, 11);
  EXPECT_NE(result.err.find("fidelio: fit 3 of model wing: failed: out of memory"), std::string::npos) << result.err;
  FitEndsAs(MakeFit(v1::FIT_STATE_CANCELLED));
  EXPECT_EQ(Run({"fits", "wing", "3", "--watch"}).code, 11);
}

TEST_F(FitCliTest, WatchingWithoutANumberIsOfTheNewestFit) {
  FitEndsAs(MakeFit(v1::FIT_STATE_SUCCEEDED, 1));
  server_.emulator().list_fits = [](grpc::ServerContext&, const v1::ListFitsRequest&, v1::ListFitsResponse& response) {
    *response.add_fits() = MakeFit(v1::FIT_STATE_RUNNING, 0.5);
    return grpc::Status::OK;
  };
  const Result result = Run({"fits", "wing", "--watch"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "fit 3 succeeded after 0.00 s and created revision 2\n");
  server_.emulator().list_fits = [](grpc::ServerContext&, const v1::ListFitsRequest&, v1::ListFitsResponse&) {
    return grpc::Status::OK;
  };
  const Result none = Run({"fits", "wing", "--watch"});
  EXPECT_EQ(none.code, 4);
  EXPECT_EQ(none.err, "fidelio: model wing: has no fits\n");
}

TEST_F(FitCliTest, AFitWhoseRevisionIsNotServedSaysSo) {
  const std::string note = "revision 2 was made, but is not served: the model was rolled back meanwhile";
  v1::Fit end = MakeFit(v1::FIT_STATE_SUCCEEDED, 1);
  end.set_not_served(true);
  FitEndsAs(end);
  EXPECT_EQ(Run({"fit", "wing", "--watch"}).out, "fit 3 succeeded after 0.00 s; " + note + "\n");
  server_.emulator().get_fit = [&](grpc::ServerContext&, const v1::GetFitRequest&, v1::Fit& fit) {
    fit = end;
    return grpc::Status::OK;
  };
  EXPECT_NE(Run({"fits", "wing", "3"}).out.find(note), std::string::npos);
  server_.emulator().list_fits = [&](grpc::ServerContext&, const v1::ListFitsRequest&, v1::ListFitsResponse& response) {
    *response.add_fits() = end;
    return grpc::Status::OK;
  };
  const std::string list = Run({"fits", "wing"}).out;
  EXPECT_NE(list.find("2*"), std::string::npos) << list;
  EXPECT_NE(list.find("* " + note), std::string::npos) << list;
}

TEST_F(FitCliTest, AServerThatGoesAwayIsWaitedForAsLongAsAskedAndItSaysSo) {
  FitEndsAs(MakeFit(v1::FIT_STATE_SUCCEEDED, 1));
  std::atomic<int> streams = 0;
  server_.emulator().watch_fit = [&](grpc::ServerContext&, grpc::ServerWriter<v1::WatchFitResponse>& writer) {
    if (streams++ > 0) return Unavailable();
    v1::WatchFitResponse event;
    *event.mutable_fit() = MakeFit(v1::FIT_STATE_RUNNING, 0.5);
    writer.Write(event);
    return Unavailable();
  };
  const Result result = Run({"fit", "wing", "--watch", "--wait", "0.5"});
  EXPECT_EQ(result.code, 9) << result.err;
  EXPECT_NE(result.err.find("connection to " + server_.address() + " lost"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("waiting up to 0.50 s"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("--wait"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("tried"), std::string::npos) << result.err;  // it waited, rather than giving up at once
}

TEST_F(FitCliTest, WatchingDoesNotWaitLongForAServerThatNeverAnswered) {
  server_.emulator().watch_fit = [](auto&, auto&) { return Unavailable(); };
  const absl::Time start = absl::Now();
  EXPECT_EQ(Run({"fits", "wing", "3", "--watch"}).code, 9);  // with --retry 0
  EXPECT_LT(absl::Now() - start, absl::Minutes(1));
}

TEST_F(CliTest, SamplesAreColumnsBesideTheInputs) {
  v1::SamplePathsRequest seen;
  server_.emulator().sample_paths = [&](grpc::ServerContext&, const v1::SamplePathsRequest& request,
                                        v1::SamplePathsResponse& response) {
    seen = request;
    *response.mutable_samples() = client::ToWire(Eigen::MatrixXd{{1, 2}, {3, 4.5}});
    return grpc::Status::OK;
  };
  const std::vector<std::string> arguments = {"sample-paths", "wing",    "-",   "--count", "2", "--kind",
                                              "function",     "--level", "low", "--seed",  "7"};
  Result result = Run(arguments, "x1,x2,name\n0.1,2,a\n5,6,b\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "x1,x2,name,path1,path2\n0.1,2,a,1,3\n5,6,b,2,4.5\n");
  EXPECT_EQ(seen.count(), 2u);
  EXPECT_EQ(seen.kind(), v1::PATH_KIND_FUNCTION);
  EXPECT_EQ(seen.level(), 0u);
  EXPECT_EQ(seen.seed(), 7u);
  result = Run({"sample-paths", "wing", "-", "--count", "2", "--json"}, "x1,x2\n0.1,2\n5,6\n");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["paths"], Json({{1, 2}, {3, 4.5}}));
}

TEST_F(CliTest, DesignsAreTablesThatObserveTakes) {
  v1::SampleDPPRequest seen;
  server_.emulator().sample_dpp = [&](grpc::ServerContext&, const v1::SampleDPPRequest& request,
                                      v1::SampleDPPResponse& response) {
    seen = request;
    *response.mutable_inputs() = client::ToWire(Eigen::MatrixXd{{0.1, 2}, {0.3, 4}});
    *response.mutable_quality() = client::ToWire(Eigen::Vector2d(1, 2));
    response.add_indices(0);
    response.add_indices(2);
    response.set_log_determinant(-3);
    response.set_variance_before(2);
    response.set_variance_after(0.5);
    return grpc::Status::OK;
  };
  const std::string candidates = "x1,x2,quality\n0.1,2,1\n5,6,7\n0.3,4,2\n";
  Result result = Run({"sample-dpp", "wing", "--k", "2", "--candidates", "-", "--method", "map", "--quality", "given",
                       "--level", "low", "--exclude-observed", "--seed", "7", "--revision", "3"},
                      candidates);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "fidelity,x1,x2\nlow,0.1,2\nlow,0.3,4\n");
  EXPECT_EQ(result.err, "2 inputs for low: the mean variance of high is expected to fall from 2 to 0.5, by 75 %\n");
  EXPECT_EQ(seen.k(), 2u);
  EXPECT_EQ(*client::FromWire(seen.candidates(), ""), Eigen::MatrixXd({{0.1, 2}, {5, 6}, {0.3, 4}}));
  EXPECT_EQ(*client::FromWire(seen.quality(), ""), Eigen::MatrixXd(Eigen::Vector3d(1, 7, 2)));
  EXPECT_EQ(seen.method(), v1::DESIGN_METHOD_MAP);
  EXPECT_EQ(seen.quality_mode(), v1::QUALITY_MODE_GIVEN);
  EXPECT_EQ(seen.level(), 0u);
  EXPECT_TRUE(seen.exclude_observed());
  EXPECT_EQ(seen.seed(), 7u);
  EXPECT_EQ(seen.revision(), "models/wing/revisions/3");

  result = Run({"sample-dpp", "wing", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["fidelity"], "high");
  EXPECT_EQ(json["indices"], Json({0, 2}));
  EXPECT_EQ(json["inputs"][1], Json({0.3, 4}));
  EXPECT_EQ(json["log_determinant"], -3);
  EXPECT_FALSE(seen.has_candidates());
  EXPECT_FALSE(seen.has_level());

  result = Run({"sample-dpp", "wing", "--quality", "given"});
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("--quality: given, which needs a column quality"), std::string::npos) << result.err;
}

TEST_F(CliTest, SuggestionsAreTablesThatObserveTakes) {
  v1::SuggestRequest seen;
  server_.emulator().suggest = [&](grpc::ServerContext&, const v1::SuggestRequest& request,
                                   v1::SuggestResponse& response) {
    seen = request;
    if (request.count() > 9) {
      return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "count: 10, but at most 9 are allowed");
    }
    for (const std::string fidelity : {"low", "high"}) {
      v1::Suggestion* run = response.add_suggestions();
      run->add_input(0.5);
      run->add_input(1);
      run->set_level(fidelity == "high" ? 1 : 0);
      run->set_fidelity(fidelity);
      run->set_cost(fidelity == "high" ? 10 : 1);
      run->set_value(0.25);
    }
    response.set_total_cost(11);
    response.set_variance_before(4);
    response.set_variance_after(1);
    return grpc::Status::OK;
  };
  Result result =
      Run({"suggest", "wing", "--count", "4", "--budget", "12.5", "--criterion", "confidence-bound", "--maximise",
           "--width", "1.5", "--levels", "high,0", "--targets", "64", "--candidate-count", "128"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "fidelity,x1,x2\nlow,0.5,1\nhigh,0.5,1\n");
  EXPECT_EQ(result.err,
            "2 runs (1 low, 1 high) at a cost of 11: the mean variance of high is expected to fall from 4 to 1, by 75 "
            "%\n");
  EXPECT_EQ(seen.count(), 4u);
  EXPECT_EQ(seen.budget(), 12.5);
  EXPECT_EQ(seen.criterion(), v1::SUGGEST_CRITERION_CONFIDENCE_BOUND);
  EXPECT_EQ(seen.direction(), v1::SUGGEST_DIRECTION_MAXIMISE);
  EXPECT_EQ(seen.width(), 1.5);
  ASSERT_EQ(seen.levels_size(), 2);
  EXPECT_EQ(seen.levels(0), 1u);
  EXPECT_EQ(seen.target_count(), 64u);
  EXPECT_EQ(seen.candidate_count(), 128u);

  result = Run({"suggest", "wing", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["suggestions"][1]["cost"], 10);
  EXPECT_FALSE(seen.has_budget());
  EXPECT_FALSE(seen.has_width());
  EXPECT_EQ(Run({"suggest", "wing", "--count", "10"}).err, "fidelio: --count: 10, but at most 9 are allowed\n");
  EXPECT_EQ(Run({"suggest", "wing", "--levels", "middle"}).code, 3);
}

TEST_F(CliTest, DiagnoseShowsATableOfFidelities) {
  server_.emulator().diagnose = [](grpc::ServerContext&, const v1::DiagnoseRequest&, v1::DiagnoseResponse& response) {
    v1::FidelityDiagnostics* low = response.add_fidelities();
    low->set_fidelity("low");
    low->set_count(2);
    *low->mutable_residuals() = client::ToWire(Eigen::Vector2d(-1.5, 0.5));
    low->set_r2(0.875);
    low->set_rmse(0.25);
    low->set_coverage50(0.5);
    low->set_coverage90(1);
    low->set_coverage95(1);
    low->set_inflation(1);
    response.add_fidelities()->set_fidelity("high");
    return grpc::Status::OK;
  };
  const Result result = Run({"diagnose", "wing"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("low"), std::string::npos);
  EXPECT_NE(result.out.find("0.875"), std::string::npos);
  EXPECT_NE(result.out.find("1.5 sd"), std::string::npos);
  EXPECT_NE(result.out.find("50 %"), std::string::npos);
  const Result json = Run({"diagnose", "wing", "--json"});
  EXPECT_EQ(Json::parse(json.out)["fidelities"][0]["residuals"], Json({-1.5, 0.5}));
  EXPECT_EQ(Json::parse(json.out)["fidelities"][1]["count"], 0);
}

TEST_F(CliTest, ErrorsInJsonHaveCodeMessageAndDetails) {
  google::rpc::ResourceInfo info;
  info.set_resource_name("models/wing");
  server_.emulator().get_model = [&](grpc::ServerContext&, const v1::GetModelRequest&, v1::Model&) {
    return ErrorWith(grpc::StatusCode::NOT_FOUND, "models/wing: no such model", info);
  };
  const Result result = Run({"model", "show", "wing", "--json"});
  EXPECT_EQ(result.code, 4);
  const Json error = Json::parse(result.err)["error"];
  EXPECT_EQ(error["code"], "NOT_FOUND");
  EXPECT_EQ(error["message"], "models/wing: no such model");
  EXPECT_EQ(error["details"][0]["resource_name"], "models/wing");
}

TEST_F(CliTest, WrongCommandLinesAreUsageErrors) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"fly"},
                                             {"model", "fly"},
                                             {"fit"},
                                             {"fit", "wing", "--seed", "-1"},
                                             {"fit", "wing", "--kernel", "x"},
                                             {"fits", "wing", "--cancel"},
                                             {"predict", "wing"},
                                             {"sample-paths", "wing"},
                                             {"sample-paths", "wing", "-", "--kind", "x"},
                                             {"sample-dpp", "wing", "--k", "0"},
                                             {"sample-dpp", "wing", "--method", "best"},
                                             {"suggest", "wing", "--candidates", "-", "--candidate-count", "9"},
                                             {"suggest", "wing", "--budget", "-1"},
                                             {"diagnose"}}) {
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err, "");
  }
  EXPECT_EQ(Run({"fly"}).err, "fidelio: \"fly\" is not a command; see fidelio --help\n");
}

TEST_F(CliTest, MistypedWordsAreMetWithWhatWasMeant) {
  EXPECT_EQ(Run({"model", "crate"}).err,
            "fidelio model: \"crate\" is not a command; did you mean create? See fidelio model --help\n");
  EXPECT_EQ(Run({"fit", "wing", "--kernal", "rbf"}).err,
            "fidelio fit: \"--kernal\" is not an option; did you mean --kernel? See fidelio fit --help\n");
  EXPECT_EQ(Run({"fit", "wing", "twice"}).err,
            "fidelio fit: \"twice\" is one argument too many; see fidelio fit --help\n");
  EXPECT_NE(Run({"model"}).err.find("a command is missing: one of create, list"), std::string::npos);
  EXPECT_EQ(Run({"--nosuch"}).err, "fidelio: \"--nosuch\" is not an option; see fidelio --help\n");
}

TEST_F(CliTest, NumbersThatAreNotWholeAreSaidToBeNone) {
  EXPECT_EQ(Run({"sample-dpp", "wing", "--k", "2.5"}).err,
            "fidelio sample-dpp: --k: \"2.5\" is not a whole number in range; see fidelio sample-dpp --help\n");
}

TEST_F(CliTest, AValueOfAVariableIsReportedByItsName) {
  setenv("FIDELIO_TIMEOUT", "soon", 1);
  const Result result = Run({"model", "list"});
  unsetenv("FIDELIO_TIMEOUT");
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "fidelio model list: --timeout (FIDELIO_TIMEOUT): \"soon\" is not a number above 0; see fidelio model list "
            "--help\n");
  setenv("FIDELIO_TOKEN", "two words", 1);
  const Result token = Run({"model", "list"});
  unsetenv("FIDELIO_TOKEN");
  EXPECT_EQ(token.code, 3);
  EXPECT_EQ(token.err, "fidelio: FIDELIO_TOKEN: must be one line of visible ASCII characters without blanks\n");
}

TEST_F(CliTest, WhoLooksIsToldThatAServerIsWaitedFor) {
  server_.Stop();
  std::istringstream in;
  std::ostringstream out, err;
  Streams streams{.in = in, .out = out, .err = err, .err_width = 80};
  EXPECT_EQ(RunCli({"model", "list", "--server", server_.address(), "--retry", "0.2"}, streams), 9);
  EXPECT_EQ(err.str().find("no response from " + server_.address() + ", trying for up to 0.20 s (--retry)\n"), 0u)
      << err.str();
  EXPECT_EQ(err.str().find("trying", err.str().find("trying") + 1), std::string::npos) << "said twice";
}

TEST_F(CliTest, AServerWithoutTlsIsMetWithThat) {
  const Result result = Run({"model", "list", "--tls"});
  EXPECT_EQ(result.code, 9);
  EXPECT_NE(result.err.find("the server does not use TLS"), std::string::npos) << result.err;
}

TEST_F(CliTest, GroupsOfCommandsExplainThemselvesWithoutWhatIsNotAbove) {
  for (const std::string group : {"model", "observations", "completion"}) {
    const std::string help = Run({group, "--help"}).out;
    EXPECT_NE(help.find("fidelio " + group + " COMMAND --help"), std::string::npos) << help;
    EXPECT_EQ(help.find("options above"), std::string::npos) << help;
  }
}

TEST_F(CliTest, HelpNamesTheKindsAndInferences) {
  EXPECT_NE(Run({"model", "create", "--help"}).out.find("deep-mf"), std::string::npos);
  EXPECT_NE(Run({"fit", "--help"}).out.find("variational"), std::string::npos);
}

TEST_F(CliTest, ServersThatCannotBeReachedAreMetWithWhatToLookAt) {
  server_.emulator().list_models = [](grpc::ServerContext&, const v1::ListModelsRequest&, v1::ListModelsResponse&) {
    return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "authorization: missing");
  };
  const Result token = Run({"model", "list"});
  EXPECT_EQ(token.code, 7);
  EXPECT_NE(token.err.find("--token-file"), std::string::npos);
  server_.Stop();
  const Result gone = Run({"model", "list"});
  EXPECT_EQ(gone.code, 9);
  EXPECT_NE(gone.err.find("is fidelio-server running?"), std::string::npos);
  EXPECT_NE(gone.err.find("--tls-ca"), std::string::npos);
}

TEST_F(CliTest, FilesOfCertificatesMustBePem) {
  TempDirectory directory;
  std::ofstream(directory / "ca") << "no certificate";
  const Result result = Run({"model", "list", "--tls-ca", directory / "ca"});
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("--tls-ca: "), std::string::npos);
  EXPECT_NE(result.err.find("not a PEM file"), std::string::npos);
}

TEST_F(CliTest, UsageErrorsAreDocumentsWithJson) {
  const Result result = Run({"fit", "wing", "--seed", "x", "--json"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(Json::parse(result.err)["error"]["code"], "INVALID_ARGUMENT");
}

TEST_F(CliTest, RevisionsAndFitsGoByTheirNumbers) {
  EXPECT_EQ(Run({"predict", "wing", "-", "--revision", "x"}).err,
            "fidelio predict: --revision: \"x\" is not a number from 1; see fidelio predict --help\n");
  EXPECT_EQ(Run({"fits", "wing", "0"}).code, 2);
}

TEST_F(CliTest, EveryCommandHasHelpWithExamples) {
  EXPECT_NE(Run({"--help"}).out.find("Exit codes:"), std::string::npos);
  for (const std::string command : {"model create",
                                    "model list",
                                    "model show",
                                    "model update",
                                    "model delete",
                                    "model export",
                                    "model import",
                                    "observe",
                                    "fit",
                                    "fits",
                                    "predict",
                                    "score",
                                    "sample-paths",
                                    "sample-dpp",
                                    "suggest",
                                    "diagnose",
                                    "report",
                                    "revisions",
                                    "rollback",
                                    "server-info",
                                    "completion bash",
                                    "completion zsh",
                                    "completion fish",
                                    "design",
                                    "observations list",
                                    "observations withdraw",
                                    "observations correct",
                                    "revisions delete"}) {
    std::vector<std::string> arguments = absl::StrSplit(command, ' ');
    arguments.push_back("--help");
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, 0);
    EXPECT_NE(result.out.find("Examples:"), std::string::npos) << command;
  }
}

}  // namespace
}  // namespace fidelio::cli
