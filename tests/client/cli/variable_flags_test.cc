#include "client/cli/variable_flags.h"

#include "absl/strings/match.h"
#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"
#include "tests/support/status.h"

namespace fidelio::cli {
namespace {

constexpr auto kInvalidFlag = absl::StatusCode::kInvalidArgument;

absl::Status Applied(const VariableFlags& flags, v1::Model* model) { return ApplyVariables(flags, model); }

TEST(VariableFlagsTest, NamesUnitsAndRangesAreRead) {
  v1::Model model;
  ASSERT_TRUE(Applied({.inputs = {"thickness[mm]=0.5:3", "load=-1e3:20"}, .output = "deflection[µm]"}, &model).ok());
  EXPECT_EQ(model.input_dimension(), 2u);
  EXPECT_EQ(model.inputs(0).name(), "thickness");
  EXPECT_EQ(model.inputs(0).unit(), "mm");
  EXPECT_EQ(model.inputs(1).name(), "load");
  EXPECT_EQ(model.inputs(1).unit(), "");
  EXPECT_EQ(model.input_box().lower(0), 0.5);
  EXPECT_EQ(model.input_box().upper(0), 3);
  EXPECT_EQ(model.input_box().lower(1), -1000);
  EXPECT_EQ(model.outputs(0).name(), "deflection");
  EXPECT_EQ(model.outputs(0).unit(), "µm");
}

TEST(VariableFlagsTest, WithoutRangesTheBoxStays) {
  v1::Model model;
  ASSERT_TRUE(Applied({.inputs = {"a[m/s]", "b"}}, &model).ok());
  EXPECT_FALSE(model.has_input_box());
  EXPECT_TRUE(model.outputs().empty());
}

TEST(VariableFlagsTest, WhatCanNotBeReadIsRefusedWithTheForm) {
  v1::Model model;
  for (const char* text :
       {"", "[mm]", "=1:2", "a[mm", "a[mm]x", "a=1", "a=:2", "a=1:", "a=1:x", "a=1:inf", "a[mm]:1"}) {
    v1::Model fresh;
    EXPECT_TRUE(IsError(Applied({.inputs = {text}}, &fresh), kInvalidFlag, {"--input: \"", "must be NAME, NAME[UNIT]"}))
        << text;
  }
  EXPECT_TRUE(IsError(Applied({.inputs = {"a=2:2"}}, &model), kInvalidFlag, {"--input: \"a=2:2\"", "above the lower"}));
  v1::Model two;
  EXPECT_TRUE(IsError(Applied({.inputs = {"a=1:2", "b"}}, &two), kInvalidFlag, {"1 of 2 inputs have a range"}));
  v1::Model three;
  three.set_input_dimension(3);
  EXPECT_TRUE(
      IsError(Applied({.inputs = {"a", "b"}}, &three), kInvalidFlag, {"--input: given 2 times, but --inputs is 3"}));
  EXPECT_TRUE(
      IsError(Applied({.output = "y[mm]=1:2"}, &three), kInvalidFlag, {"--output: \"y[mm]=1:2\"", "NAME[UNIT]"}));
}

TEST(VariableFlagsTest, DescriptionsStayWithTheirNames) {
  v1::Model model;
  model.set_name("models/plate");
  model.set_input_dimension(2);
  model.add_inputs()->set_name("load");
  model.mutable_inputs(0)->set_description("at the tip");
  model.add_inputs()->set_name("t");
  ASSERT_TRUE(Applied({.inputs = {"t[mm]", "load[kN]"}}, &model).ok());
  EXPECT_EQ(model.inputs(1).description(), "at the tip");
  EXPECT_EQ(model.inputs(0).description(), "");
  EXPECT_TRUE(IsError(Applied({.inputs = {"t"}}, &model), kInvalidFlag, {"given 1 time, but model \"plate\" has 2"}));
}

class NamedCliTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    server_.emulator().create_model = [this](grpc::ServerContext&, const v1::CreateModelRequest& request,
                                             v1::Model& model) {
      created_ = request.model();
      model = request.model();
      model.set_name("models/" + request.model_id());
      return grpc::Status::OK;
    };
    server_.emulator().get_model = [](grpc::ServerContext&, const v1::GetModelRequest& request, v1::Model& model) {
      Plate(request.name(), &model);
      return grpc::Status::OK;
    };
    server_.emulator().update_model = [this](grpc::ServerContext&, const v1::UpdateModelRequest& request,
                                             v1::Model& model) {
      update_ = request;
      model = request.model();
      return grpc::Status::OK;
    };
  }

  static void Plate(const std::string& name, v1::Model* model) {
    model->set_name(name);
    model->set_input_dimension(2);
    model->add_inputs()->set_name("thickness");
    model->mutable_inputs(0)->set_unit("mm");
    model->add_inputs()->set_name("load");
    model->add_outputs()->set_name("deflection");
    for (const double lower : {0.5, 1.0}) model->mutable_input_box()->add_lower(lower);
    for (const double upper : {3.0, 20.0}) model->mutable_input_box()->add_upper(upper);
    model->add_fidelities()->set_name("low");
    model->add_fidelities()->set_name("high");
  }

  v1::Model created_;
  v1::UpdateModelRequest update_;
};

TEST_F(NamedCliTest, CreateSendsNamesUnitsAndTheBox) {
  const Result result = Run({"model", "create", "plate", "--input", "thickness[mm]=0.5:3", "--input", "load[kN]=1:20",
                             "--output", "deflection[mm]", "--fidelities", "low,high", "--keep-revisions", "5"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out,
            "model plate created: 2 inputs (thickness, load), output deflection, fidelities from lowest to highest "
            "low, high\n");
  EXPECT_EQ(created_.input_dimension(), 2u);
  EXPECT_EQ(created_.inputs(1).name(), "load");
  EXPECT_EQ(created_.inputs(1).unit(), "kN");
  EXPECT_EQ(created_.input_box().upper(1), 20);
  EXPECT_EQ(created_.outputs(0).unit(), "mm");
  EXPECT_EQ(created_.keep_revisions(), 5u);
}

TEST_F(NamedCliTest, CreateNeedsInputsInOneWay) {
  EXPECT_EQ(Run({"model", "create", "plate", "--fidelities", "low"}).code, 2);
  const Result twice =
      Run({"model", "create", "plate", "--fidelities", "low", "--input", "a=0:1", "--lower", "0", "--upper", "1"});
  EXPECT_EQ(twice.code, 3);
  EXPECT_TRUE(absl::StrContains(twice.err, "--lower: given, but --input has ranges")) << twice.err;
  server_.emulator().create_model = [](grpc::ServerContext&, const v1::CreateModelRequest&, v1::Model&) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "model.inputs[1].name: \"a b\", want [A-Za-z_]");
  };
  EXPECT_EQ(Run({"model", "create", "plate", "--fidelities", "low", "--input", "a", "--input", "a b"}).err,
            "fidelio: --input, entry 2: \"a b\", want [A-Za-z_]\n");
}

TEST_F(NamedCliTest, UpdateRenamesAndClears) {
  ASSERT_EQ(Run({"model", "update", "plate", "--input", "t[mm]", "--input", "f", "--output", "w"}).code, 0);
  EXPECT_EQ(update_.update_mask().paths_size(), 2);
  EXPECT_EQ(update_.model().inputs(0).name(), "t");
  EXPECT_EQ(update_.model().outputs(0).name(), "w");
  ASSERT_EQ(Run({"model", "update", "plate", "--input", "t=0:1", "--input", "f=0:2"}).code, 0);
  EXPECT_EQ(update_.update_mask().paths(0), "input_box");
  EXPECT_EQ(update_.model().input_box().upper(1), 2);
  ASSERT_EQ(Run({"model", "update", "plate", "--no-input-names", "--no-output-name", "--keep-revisions", "0"}).code, 0);
  EXPECT_EQ(update_.update_mask().paths_size(), 3);
  EXPECT_EQ(update_.model().inputs_size() + update_.model().outputs_size(), 0);
}

TEST_F(NamedCliTest, ShowAndListPrintTheNames) {
  const std::string shown = Run({"model", "show", "plate"}).out;
  for (const char* part :
       {"input 1       thickness (mm), 0.5 to 3", "input 2       load, 1 to 20", "output        deflection"}) {
    EXPECT_TRUE(absl::StrContains(shown, part)) << shown;
  }
  server_.emulator().list_models = [](grpc::ServerContext&, const v1::ListModelsRequest&,
                                      v1::ListModelsResponse& response) {
    Plate("models/plate", response.add_models());
    return grpc::Status::OK;
  };
  EXPECT_TRUE(absl::StrContains(Run({"model", "list"}).out, "thickness, load"));
}

TEST_F(NamedCliTest, SuggestionsAndDesignsHaveTheNames) {
  server_.emulator().suggest = [](grpc::ServerContext&, const v1::SuggestRequest&, v1::SuggestResponse& response) {
    v1::Suggestion* run = response.add_suggestions();
    run->add_input(0.5);
    run->add_input(20);
    run->set_fidelity("low");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"suggest", "plate"}).out, "fidelity,thickness,load\nlow,0.5,20\n");
  EXPECT_EQ(Json::parse(Run({"suggest", "plate", "--json"}).out)["input_names"], Json({"thickness", "load"}));
  server_.emulator().sample_dpp = [](grpc::ServerContext&, const v1::SampleDPPRequest&,
                                     v1::SampleDPPResponse& response) {
    *response.mutable_inputs() = client::ToWire(Eigen::MatrixXd{{0.5, 2}});
    *response.mutable_quality() = client::ToWire(Eigen::VectorXd::Ones(1));
    response.add_indices(0);
    return grpc::Status::OK;
  };
  const Result dpp = Run({"sample-dpp", "plate", "--k", "1"});
  EXPECT_EQ(dpp.out, "fidelity,thickness,load\nhigh,0.5,2\n") << dpp.err;
}

TEST_F(NamedCliTest, PredictionsGoByNameAndPrintTheFilesColumns) {
  Eigen::MatrixXd seen;
  const auto predict = server_.emulator().predict;
  server_.emulator().predict = [&](grpc::ServerContext& context, const v1::PredictRequest& request,
                                   v1::PredictResponse& response) {
    seen = *client::FromWire(request.inputs(), "");
    return predict(context, request, response);
  };
  const Result result = Run({"predict", "plate", "-"}, "load,thickness\n20,0.5\n");
  EXPECT_EQ(result.out, "load,thickness,mean,sd\n20,0.5,20.5,0.5\n") << result.err;
  EXPECT_EQ(seen, (Eigen::MatrixXd(1, 2) << 0.5, 20).finished());
  EXPECT_EQ(
      Run({"predict", "plate", "-"}, "x1,x2\n20,0.5\n").err,
      "fidelio: standard input: header: no column thickness, but model \"plate\" has 2 inputs: thickness, load\n");
}

}  // namespace
}  // namespace fidelio::cli
