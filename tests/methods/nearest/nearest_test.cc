// The model of this folder through a complete server: created, fitted, served, restarted, exported, imported, diagnosed,
// conditioned; and its store in the hands of fidelio-server, which does not have it.
#include <cmath>
#include <memory>
#include <string>

#include "client/cpp/client.h"
#include "core/registry/emulator_registry.h"
#include "gtest/gtest.h"
#include "tests/methods/nearest/nearest_emulator.h"
#include "tests/process/server_process.h"
#include "tests/server/rpc/test_server.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

std::unique_ptr<client::Client> ClientOf(const std::string& address) {
  auto client = client::Client::Connect({.channel = {.server = address}, .timeout = absl::Minutes(1)});
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

const v1::MethodInfo* FindNearestIn(const v1::ServerInfo& info) {
  for (const v1::MethodInfo& method : info.methods()) {
    if (method.kind_name() == "NEAREST") return &method;
  }
  return nullptr;
}

class NearestTest : public ::testing::Test {
 protected:
  // A server of this program, on the same data as the one before.
  void Start() {
    Stop();
    server_ = std::make_unique<TestServer>(
        [this](Server::Options& options) { options.config.data_dir = directory_ / "data"; });
    client_ = ClientOf(server_->address());
  }
  void Stop() {
    client_.reset();
    server_.reset();
  }

  void Create(const std::string& name, v1::ModelKind kind) {
    v1::Model model;
    model.set_kind(kind);
    model.set_input_dimension(1);
    for (const char* fidelity : {"coarse", "fine"}) model.add_fidelities()->set_name(fidelity);
    const auto created = client_->CreateModel(name, model);
    ASSERT_TRUE(created.ok()) << created.status();
    for (const int level : {0, 1}) {
      const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(level == 0 ? 9 : 5, 0, 1);
      const auto added = client_->AddObservations(name, {{.level = level, .inputs = x, .outputs = Outputs(x, level)}});
      ASSERT_TRUE(added.ok()) << added.status();
    }
  }
  void CreateAndFit(const std::string& name, v1::FitOptions options = {},
                    v1::ModelKind kind = static_cast<v1::ModelKind>(kNearestKind)) {
    Create(name, kind);
    options.mutable_budget()->set_iterations(60);
    const auto fit = client_->Fit(name, options);
    ASSERT_TRUE(fit.ok()) << fit.status();
    const auto ended = client_->WatchFit(fit->name(), nullptr);
    ASSERT_TRUE(ended.ok()) << ended.status();
    ASSERT_EQ(ended->state(), v1::FIT_STATE_SUCCEEDED) << ended->DebugString();
  }
  static Eigen::VectorXd Outputs(const Eigen::VectorXd& x, int level) {
    return x.unaryExpr([level](double at) { return std::sin(7 * at) + 0.3 * level * at; });
  }

  client::Prediction Predict(const std::string& name, int level = 1) {
    const auto p = client_->Predict(name, Queries(), {.level = level, .quantiles = {0.05}, .full_covariance = true});
    EXPECT_TRUE(p.ok()) << p.status();
    return p.ok() ? *p : client::Prediction();
  }
  static Eigen::VectorXd Queries() { return Eigen::VectorXd::LinSpaced(6, -0.1, 1.1); }

  std::string Export(client::Client& client, const std::string& name) {
    std::string file;
    const absl::Status status = client.ExportModel(name, true, [&](absl::string_view bytes) {
      file.append(bytes.data(), bytes.size());
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return file;
  }
  static absl::StatusOr<v1::Model> Import(client::Client& client, const std::string& name, const std::string& file) {
    return client.ImportModel(name, [&](int64_t offset, size_t most) -> absl::StatusOr<std::string> {
      return file.substr(static_cast<size_t>(offset), most);
    });
  }

  const TempDirectory directory_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<client::Client> client_;
};

TEST_F(NearestTest, IsListedByTheServerWithItsOptions) {
  Start();
  const auto info = client_->GetServerInfo();
  ASSERT_TRUE(info.ok()) << info.status();
  const v1::MethodInfo* method = FindNearestIn(*info);
  ASSERT_NE(method, nullptr) << info->DebugString();
  EXPECT_EQ(static_cast<ModelKind>(method->kind()), kNearestKind);
  EXPECT_EQ(method->inference_name(), "DISTANCES");
  EXPECT_EQ(method->maturity(), v1::MATURITY_EXPERIMENTAL);
  EXPECT_EQ(method->chosen_by_auto(), "by default");
  ASSERT_EQ(method->options_size(), 1);
  EXPECT_EQ(method->options(0).name(), "margin");
  EXPECT_EQ(method->options(0).most(), 100);
}

TEST_F(NearestTest, ServesTheSameBitsAfterARestartAndAnImport) {
  Start();
  CreateAndFit("wing");
  const auto fits = client_->ListFits("wing");
  ASSERT_TRUE(fits.ok()) << fits.status();
  EXPECT_EQ(static_cast<Inference>(fits->front().inference()), kNearestInference);
  EXPECT_EQ(fits->front().inference_reason(), "AUTO: the only inference of NEAREST");
  const client::Prediction before = Predict("wing");
  ASSERT_EQ(before.mean.size(), 6);
  EXPECT_GT(before.variance.minCoeff(), 0);
  EXPECT_LT((before.covariance.diagonal() - before.variance).norm(), 1e-12);
  Start();
  EXPECT_EQ(Predict("wing").covariance, before.covariance);
  EXPECT_EQ(Predict("wing").quantiles, before.quantiles);
  const auto imported = Import(*client_, "copy", Export(*client_, "wing"));
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(static_cast<ModelKind>(imported->kind()), kNearestKind);
  EXPECT_EQ(Predict("copy").covariance, before.covariance);
}

TEST_F(NearestTest, IsDiagnosedDesignedForAndConditioned) {
  Start();
  CreateAndFit("wing");
  const auto diagnostics = client_->Diagnose("wing");
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.status();
  EXPECT_GE(diagnostics->fidelities[0].coverage95, 0.8);
  const auto design = client_->SampleDpp("wing", {.k = 3, .candidate_count = 32});
  ASSERT_TRUE(design.ok()) << design.status();
  EXPECT_EQ(design->indices.size(), 3u);
  EXPECT_TRUE(client_->Suggest("wing", {.candidate_count = 32, .target_count = 16}).ok());
  EXPECT_TRUE(client_->SamplePaths("wing", Queries(), {.count = 4}).ok());
  EXPECT_TRUE(IsError(client_->SamplePaths("wing", Queries(), {.kind = v1::PATH_KIND_FUNCTION}).status(),
                      absl::StatusCode::kUnimplemented, {"NEAREST has no samples that are functions"}));
  const Eigen::VectorXd x = Eigen::VectorXd::Constant(1, 0.62);
  const auto added = client_->AddObservations("wing", {{.level = 1, .inputs = x, .outputs = Eigen::VectorXd::Ones(1)}},
                                              {.update = client::ObservationUpdate::kCondition});
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(client_->Predict("wing", x)->mean[0], 1);
}

TEST_F(NearestTest, ItsOptionIsCheckedUsedAndKept) {
  Start();
  CreateAndFit("one");
  v1::FitOptions options;
  (*options.mutable_method_options())["margin"] = 2.5;
  CreateAndFit("wide", options);
  EXPECT_LT((Predict("wide").variance - 2.5 * Predict("one").variance).norm(), 1e-12);
  Start();
  EXPECT_EQ(client_->GetFit("models/wide/fits/1")->options().method_options().at("margin"), 2.5);
  (*options.mutable_method_options())["margin"] = 0.5;
  EXPECT_TRUE(IsError(client_->Fit("wide", options).status(), absl::StatusCode::kInvalidArgument,
                      {"options.margin: 0.5, want 1 to 100"}));
  options.clear_method_options();
  options.set_steps(5);
  EXPECT_TRUE(IsError(client_->Fit("wide", options).status(), absl::StatusCode::kInvalidArgument,
                      {"options.steps: given, but inference DISTANCES does not use it; its options: margin"}));
}

TEST_F(NearestTest, AServerWithoutItKeepsItsModelsAndRefusesToUseThem) {
  Start();
  v1::FitOptions options;
  (*options.mutable_method_options())["margin"] = 3;
  CreateAndFit("wing", options);
  CreateAndFit("spare");
  CreateAndFit("classic", {}, v1::MODEL_KIND_AR1);
  const client::Prediction before = Predict("wing"), classic = Predict("classic");
  const std::string file = Export(*client_, "wing");
  Stop();

  const TempDirectory scratch;
  {
    auto process = StartFidelio(FIDELIO_SERVER_BINARY, directory_ / "data", scratch.path(), {});
    ASSERT_TRUE(process.ok()) << process.status();
    client_ = ClientOf((*process)->address());
    const auto info = client_->GetServerInfo();
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ(FindNearestIn(*info), nullptr);
    EXPECT_FALSE(info->methods().empty());

    const auto models = client_->ListModels();
    ASSERT_TRUE(models.ok()) << models.status();
    ASSERT_EQ(models->size(), 3u);
    for (const v1::Model& model : *models) EXPECT_EQ(model.state(), v1::MODEL_STATE_ACTIVE) << model.DebugString();
    EXPECT_EQ(static_cast<ModelKind>((*models)[2].kind()), kNearestKind);
    EXPECT_EQ(client_->GetFit("models/wing/fits/1")->options().method_options().at("margin"), 3);
    EXPECT_EQ(static_cast<Inference>(client_->ListRevisions("wing")->front().inference()), kNearestInference);
    EXPECT_EQ(client_->ListObservations("wing", std::nullopt, 100)->size(), 2u);

    const std::string why = "models/wing: is of kind 1000, which this program does not have";
    EXPECT_TRUE(IsError(client_->Predict("wing", Queries()).status(), absl::StatusCode::kFailedPrecondition, {why}));
    EXPECT_TRUE(IsError(client_->Fit("wing", {}).status(), absl::StatusCode::kFailedPrecondition, {why}));
    EXPECT_TRUE(IsError(client_->Diagnose("wing").status(), absl::StatusCode::kFailedPrecondition, {why}));
    v1::Model change;
    change.set_name("models/wing");
    EXPECT_TRUE(
        IsError(client_->UpdateModel(change, {"description"}).status(), absl::StatusCode::kFailedPrecondition, {why}));
    EXPECT_TRUE(IsError(Import(*client_, "copy", file).status(), absl::StatusCode::kInvalidArgument,
                        {"model.kind: unknown (1000)"}));

    EXPECT_EQ(Export(*client_, "wing"), file);
    EXPECT_EQ(Predict("classic").covariance, classic.covariance);
    EXPECT_TRUE(client_->DeleteModel("spare").ok());
    EXPECT_EQ(client_->GetModel("wing")->state(), v1::MODEL_STATE_ACTIVE);
    client_.reset();
    EXPECT_TRUE((*process)->Stop(absl::Minutes(1)));
  }

  Start();
  EXPECT_EQ(Predict("wing").covariance, before.covariance);
  EXPECT_EQ(client_->ListModels()->size(), 2u);
}

TEST(NearestRegistrationTest, AgreesWithTheOtherMethodsAndContinuesASavedFit) {
  EXPECT_TRUE(CheckEmulatorMethods().ok()) << CheckEmulatorMethods();
  const auto method = FindEmulatorMethod("nearest");
  ASSERT_TRUE(method.ok()) << method.status();
  const Dataset data = SmallData({9, 5}, 1);
  const auto fit = (*method)->create(data, {.method_options = {{"margin", 2}}});
  ASSERT_TRUE(fit.ok()) << fit.status();
  const auto resumed = (*method)->resume((*fit)->SaveState(), data, 1);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ((*(*resumed)->Run(nullptr))->Save(), (*(*fit)->Run(nullptr))->Save());
}

}  // namespace
}  // namespace fidelio
