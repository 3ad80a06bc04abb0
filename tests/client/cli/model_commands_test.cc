#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"
#include "tests/support/temp_directory.h"

namespace fidelio::cli {
namespace {

TEST_F(CliTest, CreateSendsWhatWasTyped) {
  v1::CreateModelRequest seen;
  server_.emulator().create_model = [&](grpc::ServerContext&, const v1::CreateModelRequest& request, v1::Model& model) {
    seen = request;
    model = request.model();
    model.set_name("models/" + request.model_id());
    return grpc::Status::OK;
  };
  const Result result = Run({"model", "create", "wing", "--inputs", "2", "--fidelities", "low,high", "--costs", "1,40",
                             "--lower", "-5,0", "--upper", "5,1", "--transform", "bounded", "--bounds", "0,10"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "model wing created: 2 inputs, fidelities from lowest to highest low, high\n");
  EXPECT_EQ(seen.model_id(), "wing");
  EXPECT_EQ(seen.model().input_dimension(), 2u);
  EXPECT_EQ(seen.model().fidelities(1).name(), "high");
  EXPECT_EQ(seen.model().fidelities(1).cost(), 40);
  EXPECT_EQ(seen.model().input_box().lower(0), -5);
  EXPECT_EQ(seen.model().input_box().upper(1), 1);
  EXPECT_EQ(seen.model().output_transform().kind(), v1::OUTPUT_TRANSFORM_KIND_BOUNDED);
  EXPECT_EQ(seen.model().output_transform().upper(), 10);
}

TEST_F(CliTest, TheServersErrorsNameTheFlag) {
  server_.emulator().create_model = [](grpc::ServerContext&, const v1::CreateModelRequest&, v1::Model&) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "model.fidelities[1].cost: -1, must be above 0");
  };
  const Result result = Run({"model", "create", "a", "--inputs", "1", "--fidelities", "l,h", "--costs", "1,-1"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.err, "fidelio: --costs, entry 2: -1, must be above 0\n");
}

TEST_F(CliTest, HalfABoxAndBoundsWithoutTheirTransformAreRefusedByTheFlagThatIsMissing) {
  const auto error = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"model", "create", "a", "--inputs", "1", "--fidelities", "l,h"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, 3);
    return result.err;
  };
  EXPECT_EQ(error({"--lower", "0"}), "fidelio: --upper: missing, but --lower is given: a box has both corners\n");
  EXPECT_EQ(error({"--upper", "1"}), "fidelio: --lower: missing, but --upper is given: a box has both corners\n");
  EXPECT_EQ(error({"--transform", "bounded"}),
            "fidelio: --bounds: missing, but --transform bounded needs what outputs lie between: 0,100\n");
  EXPECT_EQ(error({"--bounds", "0,1"}), "fidelio: --bounds: given, but only --transform bounded has bounds\n");
  EXPECT_EQ(error({"--costs", "1"}), "fidelio: --costs: 1 number, but there are 2 fidelities\n");
}

TEST_F(CliTest, DeletionWithoutATerminalMustBeConfirmed) {
  int deleted = 0;
  server_.emulator().delete_model = [&](grpc::ServerContext&, const v1::DeleteModelRequest&, google::protobuf::Empty&) {
    ++deleted;
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"model", "delete", "wing"}).code, 2);
  EXPECT_EQ(deleted, 0);
  EXPECT_EQ(Run({"model", "delete", "wing", "--yes"}).code, 0);
  EXPECT_EQ(deleted, 1);
}

TEST_F(CliTest, KindsThatNobodyKnowsAreRefusedWithThoseOfTheServer) {
  server_.emulator().get_server_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&, v1::ServerInfo& info) {
    info.add_model_kinds(v1::MODEL_KIND_MF_DGP);
    info.add_model_kinds(v1::MODEL_KIND_AR1);
    info.add_inferences(v1::INFERENCE_MOMENTS);
    return grpc::Status::OK;
  };
  const Result kind = Run({"model", "create", "a", "--inputs", "1", "--fidelities", "l", "--kind", "ar2"});
  EXPECT_EQ(kind.code, 3);
  EXPECT_EQ(kind.err, "fidelio: --kind: \"ar2\" is not one of mf-dgp, ar1, which the server has\n");
  const Result inference = Run({"fit", "wing", "--inference", "magic"});
  EXPECT_EQ(inference.code, 3);
  EXPECT_EQ(inference.err, "fidelio: --inference: \"magic\" is not one of moments, which the server has\n");
}

TEST_F(CliTest, KindsThatOnlyTheServerKnowsCanBeTypedAndAreListed) {
  server_.emulator().get_server_info = [](grpc::ServerContext&, const v1::GetServerInfoRequest&, v1::ServerInfo& info) {
    info.add_model_kinds(v1::MODEL_KIND_MF_DGP);
    info.add_model_kinds(static_cast<v1::ModelKind>(1000));
    info.add_inferences(static_cast<v1::Inference>(1001));
    v1::MethodInfo* method = info.add_methods();
    method->set_kind(static_cast<v1::ModelKind>(1000));
    method->set_kind_name("FINITE_ELEMENT");
    method->set_inference(static_cast<v1::Inference>(1001));
    method->set_inference_name("DISTANCES");
    method->set_maturity(v1::MATURITY_EXPERIMENTAL);
    method->set_chosen_by_auto("by default");
    v1::MethodOption* option = method->add_options();
    option->set_name("margin");
    option->set_help("factor of variances");
    option->set_least(1);
    option->set_most(100);
    option->set_default_text("1");
    return grpc::Status::OK;
  };
  v1::CreateModelRequest created;
  server_.emulator().create_model = [&](grpc::ServerContext&, const v1::CreateModelRequest& request, v1::Model& model) {
    created = request;
    model = request.model();
    return grpc::Status::OK;
  };
  v1::FitRequest fit;
  server_.emulator().fit = [&](grpc::ServerContext&, const v1::FitRequest& request, v1::Fit&) {
    fit = request;
    return grpc::Status::OK;
  };
  const Result info = Run({"server-info"});
  EXPECT_TRUE(absl::StrContains(info.out, "kinds of models  mf-dgp, finite-element\n")) << info.out;
  EXPECT_TRUE(absl::StrContains(info.out, "finite-element  distances  experimental  by default      margin\n"))
      << info.out;
  EXPECT_TRUE(absl::StrContains(info.out, "distances margin  factor of variances  1 to 100  1\n")) << info.out;
  EXPECT_EQ(Run({"model", "create", "a", "--inputs", "1", "--fidelities", "l", "--kind", "finite-element"}).code, 0);
  EXPECT_EQ(static_cast<int>(created.model().kind()), 1000);
  EXPECT_EQ(Run({"fit", "a", "--inference", "distances", "--option", "margin=2.5"}).code, 0);
  EXPECT_EQ(static_cast<int>(fit.options().inference()), 1001);
  EXPECT_EQ(fit.options().method_options().at("margin"), 2.5);
  server_.emulator().fit = [&](grpc::ServerContext&, const v1::FitRequest&, v1::Fit&) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "options.margin: 0.5, want 1 to 100");
  };
  EXPECT_EQ(Run({"fit", "a", "--option", "margin=0.5"}).err, "fidelio: --option margin: 0.5, want 1 to 100\n");
  const Result bad = Run({"fit", "a", "--option", "margin"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(bad.err, "fidelio: --option: \"margin\", want NAME=NUMBER\n");
}

class UpdateCliTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    server_.emulator().get_model = [](grpc::ServerContext&, const v1::GetModelRequest& request, v1::Model& model) {
      model.set_name(request.name());
      model.set_etag("e1");
      model.set_description("old");
      model.set_input_dimension(2);
      model.mutable_input_box()->add_lower(0);
      model.mutable_input_box()->add_lower(0);
      model.mutable_input_box()->add_upper(1);
      model.mutable_input_box()->add_upper(1);
      for (const char* name : {"low", "high"}) {
        v1::Fidelity* fidelity = model.add_fidelities();
        fidelity->set_name(name);
        fidelity->set_cost(7);
      }
      return grpc::Status::OK;
    };
    server_.emulator().update_model = [this](grpc::ServerContext&, const v1::UpdateModelRequest& request,
                                             v1::Model& model) {
      seen_ = request;
      model = request.model();
      return grpc::Status::OK;
    };
  }

  std::vector<std::string> Paths() const {
    return {seen_.update_mask().paths().begin(), seen_.update_mask().paths().end()};
  }

  v1::UpdateModelRequest seen_;
};

TEST_F(UpdateCliTest, ChangesWhatIsNamedAndNothingElse) {
  ASSERT_EQ(Run({"model", "update", "wing", "--costs", "1,40"}).code, 0);
  EXPECT_EQ(Paths(), std::vector<std::string>({"fidelities"}));
  EXPECT_EQ(seen_.model().name(), "models/wing");
  EXPECT_EQ(seen_.model().etag(), "e1");
  EXPECT_EQ(seen_.model().fidelities(1).name(), "high");
  EXPECT_EQ(seen_.model().fidelities(1).cost(), 40);
  EXPECT_FALSE(seen_.request_id().empty());

  ASSERT_EQ(
      Run({"model", "update", "wing", "--fidelities", "a,b", "--description", "new", "--upper", "2,3", "--etag", "e0"})
          .code,
      0);
  EXPECT_EQ(Paths(), std::vector<std::string>({"description", "input_box", "fidelities"}));
  EXPECT_EQ(seen_.model().fidelities(0).name(), "a");
  EXPECT_EQ(seen_.model().fidelities(0).cost(), 7);
  EXPECT_EQ(seen_.model().input_box().lower_size(), 2);
  EXPECT_EQ(seen_.model().input_box().upper(1), 3);
  EXPECT_EQ(seen_.model().description(), "new");
  EXPECT_EQ(seen_.model().etag(), "e0");

  ASSERT_EQ(Run({"model", "update", "wing", "--no-box", "--no-description"}).code, 0);
  EXPECT_FALSE(seen_.model().has_input_box());
  EXPECT_EQ(seen_.model().description(), "");
}

TEST_F(UpdateCliTest, WhatMakesNoSenseIsRefused) {
  EXPECT_EQ(Run({"model", "update", "wing"}).code, 2);
  EXPECT_EQ(Run({"model", "update", "wing", "--no-box", "--lower", "1,1"}).code, 2);
  EXPECT_EQ(Run({"model", "update", "wing", "--fidelities", "a"}).err,
            "fidelio: --fidelities: 1 names, but model \"wing\" has 2 fidelities, whose number can't change\n");
  EXPECT_EQ(Run({"model", "update", "wing", "--costs", "1"}).err,
            "fidelio: --costs: 1 number, but there are 2 fidelities\n");
}

TEST_F(CliTest, NamesOfModelsAreForScripts) {
  server_.emulator().list_models = [](grpc::ServerContext&, const v1::ListModelsRequest&,
                                      v1::ListModelsResponse& response) {
    for (const char* name : {"models/a", "models/b"}) response.add_models()->set_name(name);
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"model", "list", "--names"}).out, "a\nb\n");
  EXPECT_EQ(Json::parse(Run({"model", "list", "--names", "--json"}).out), Json({"a", "b"}));
}

TEST_F(CliTest, AModelGoesToAFileAndComesBack) {
  TempDirectory directory;
  server_.emulator().export_model = [](grpc::ServerContext&, const v1::ExportModelRequest& request,
                                       grpc::ServerWriter<v1::ExportModelResponse>& writer) {
    if (request.name() != "models/wing") return grpc::Status(grpc::StatusCode::NOT_FOUND, request.name() + ": none");
    v1::ExportModelResponse response;
    for (const char* chunk : {"ab", "c"}) {
      response.set_chunk(chunk);
      writer.Write(response);
    }
    return grpc::Status::OK;
  };
  std::string id, bytes;
  server_.emulator().import_model = [&](grpc::ServerContext&, grpc::ServerReader<v1::ImportModelRequest>& reader,
                                        v1::Model& model) {
    v1::ImportModelRequest request;
    reader.Read(&request);
    id = request.header().model_id();
    bytes.clear();
    while (reader.Read(&request)) bytes += request.chunk();
    if (bytes != "abc") return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "chunk: not an exported model");
    model.set_name("models/wing2");
    model.set_current_revision("models/wing2/revisions/4");
    return grpc::Status::OK;
  };
  const std::string file = directory / "wing.fidelio";
  Result result = Run({"model", "export", "wing", "-o", file});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, absl::StrCat("model wing written to ", file, ", 3 bytes\n"));
  EXPECT_EQ(FileContents(file), "abc");
  EXPECT_EQ(Run({"model", "export", "wing", "-o", "-"}).out, "abc");
  EXPECT_EQ(Run({"model", "export", "none", "-o", directory / "none"}).code, 4);
  EXPECT_EQ(FileContents(directory / "none"), "");

  result = Run({"model", "import", file, "--name", "wing2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "model wing2 imported, which serves revision 4\n");
  EXPECT_EQ(id, "wing2");
  EXPECT_EQ(Run({"model", "import", "-"}, "abc").code, 0);
  EXPECT_EQ(id, "");
  EXPECT_EQ(Run({"model", "import", "-"}, "x,y\n").err, "fidelio: standard input: not an exported model\n");
}

TEST_F(CliTest, RollbackNamesTheRevisionByItsNumber) {
  v1::RollbackModelRequest seen;
  server_.emulator().rollback_model = [&](grpc::ServerContext&, const v1::RollbackModelRequest& request,
                                          v1::Model& model) {
    seen = request;
    model.set_name(request.name());
    model.set_current_revision(request.revision());
    return grpc::Status::OK;
  };
  EXPECT_EQ(Run({"rollback", "wing", "2"}).out, "model wing serves revision 2 now\n");
  EXPECT_EQ(seen.revision(), "models/wing/revisions/2");
  EXPECT_FALSE(seen.request_id().empty());
}

}  // namespace
}  // namespace fidelio::cli
