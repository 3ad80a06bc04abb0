// SampleDpp, Suggest and Diagnose of the client.
#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

class DesignTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> Connect() {
    auto client = Client::Connect({.channel = {.server = server_.address()}});
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

  FakeServer server_;
};

TEST_F(DesignTest, DesignsComeBackAsMatrices) {
  v1::SampleDPPRequest seen;
  Eigen::MatrixXd inputs = Eigen::MatrixXd::Random(2, 3);
  Eigen::VectorXd quality = Eigen::Vector2d(1, 2);
  server_.emulator().sample_dpp = [&](grpc::ServerContext&, const v1::SampleDPPRequest& request,
                                      v1::SampleDPPResponse& response) {
    seen = request;
    *response.mutable_inputs() = ToWire(inputs);
    *response.mutable_quality() = ToWire(quality);
    response.add_indices(4);
    response.add_indices(1);
    response.set_log_determinant(-7);
    response.set_variance_before(2);
    response.set_variance_after(1);
    response.set_revision("models/wing/revisions/5");
    response.set_data_version(9);
    return grpc::Status::OK;
  };
  DppOptions options{.k = 2, .level = 1, .seed = 3, .revision = "5", .min_data_version = 8};
  const Eigen::MatrixXd candidates = Eigen::MatrixXd::Random(6, 3);
  options.candidates = candidates;
  const auto design = Connect()->SampleDpp("wing", options);
  ASSERT_TRUE(design.ok()) << design.status();
  EXPECT_EQ(design->inputs, inputs);
  EXPECT_EQ(design->quality, quality);
  EXPECT_EQ(design->indices, std::vector<int>({4, 1}));
  EXPECT_EQ(design->log_determinant, -7);
  EXPECT_EQ(design->variance_before, 2);
  EXPECT_EQ(design->variance_after, 1);
  EXPECT_EQ(design->revision, "models/wing/revisions/5");
  EXPECT_EQ(design->data_version, 9);
  EXPECT_EQ(seen.model(), "models/wing");
  EXPECT_EQ(seen.k(), 2u);
  EXPECT_EQ(*FromWire(seen.candidates(), ""), candidates);
  EXPECT_EQ(seen.level(), 1u);
  EXPECT_EQ(seen.revision(), "models/wing/revisions/5");
  EXPECT_EQ(seen.min_data_version(), 8);

  quality = Eigen::Vector3d(1, 2, 3);
  EXPECT_TRUE(IsError(Connect()->SampleDpp("wing").status(), absl::StatusCode::kInternal, {"quality of 3 × 1"}));
  inputs = Eigen::MatrixXd::Random(5, 3);
  EXPECT_TRUE(IsError(Connect()->SampleDpp("wing").status(), absl::StatusCode::kInternal, {"inputs of 5 × 3"}));
}

TEST_F(DesignTest, SuggestionsComeBackAsVectors) {
  v1::SuggestRequest seen;
  server_.emulator().suggest = [&](grpc::ServerContext&, const v1::SuggestRequest& request,
                                   v1::SuggestResponse& response) {
    seen = request;
    v1::Suggestion* run = response.add_suggestions();
    run->add_input(1);
    run->add_input(2);
    run->set_level(1);
    run->set_fidelity("fine");
    run->set_cost(10);
    run->set_value(0.5);
    run->set_candidate(17);
    response.set_total_cost(10);
    response.set_shortfall_reason("the budget is spent");
    response.set_variance_before(2);
    response.set_variance_after(1);
    return grpc::Status::OK;
  };
  const auto answer = Connect()->Suggest("wing", {.count = 3, .budget = 20, .levels = {1}, .candidate_count = 64});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->runs.size(), 1u);
  EXPECT_EQ(answer->runs[0].input, Eigen::VectorXd(Eigen::Vector2d(1, 2)));
  EXPECT_EQ(answer->runs[0].level, 1);
  EXPECT_EQ(answer->runs[0].fidelity, "fine");
  EXPECT_EQ(answer->runs[0].cost, 10);
  EXPECT_EQ(answer->runs[0].value, 0.5);
  EXPECT_EQ(answer->runs[0].candidate, 17);
  EXPECT_EQ(answer->total_cost, 10);
  EXPECT_EQ(answer->shortfall_reason, "the budget is spent");
  EXPECT_EQ(seen.count(), 3u);
  EXPECT_EQ(seen.budget(), 20);
  EXPECT_EQ(seen.levels(0), 1u);
  EXPECT_EQ(seen.candidate_count(), 64u);
  EXPECT_FALSE(seen.has_width());
  EXPECT_EQ(seen.direction(), v1::SUGGEST_DIRECTION_UNSPECIFIED);
}

TEST_F(DesignTest, DiagnosticsHaveTheServersVerdictIfItGivesOne) {
  bool old = false;
  server_.emulator().diagnose = [&](grpc::ServerContext&, const v1::DiagnoseRequest&, v1::DiagnoseResponse& response) {
    response.add_fidelities()->set_distinct_count(4);
    if (old) return grpc::Status::OK;
    response.mutable_verdict()->set_kind(v1::VERDICT_KIND_TOO_FEW);
    response.mutable_verdict()->add_warnings("copies");
    response.set_withdrawn_count(3);
    return grpc::Status::OK;
  };
  const auto answer = Connect()->Diagnose("wing");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->fidelities[0].distinct_count, 4);
  ASSERT_TRUE(answer->verdict.has_value());
  EXPECT_EQ(answer->verdict->kind(), v1::VERDICT_KIND_TOO_FEW);
  EXPECT_EQ(answer->verdict->warnings(0), "copies");
  EXPECT_EQ(answer->withdrawn_count, 3);
  old = true;
  EXPECT_FALSE(Connect()->Diagnose("wing")->verdict.has_value());
}

TEST_F(DesignTest, DiagnosticsComeBackPerFidelity) {
  server_.emulator().diagnose = [](grpc::ServerContext&, const v1::DiagnoseRequest& request,
                                   v1::DiagnoseResponse& response) {
    v1::FidelityDiagnostics* fidelity = response.add_fidelities();
    fidelity->set_level(1);
    fidelity->set_fidelity("fine");
    fidelity->set_count(request.revision().empty() ? 2 : 3);
    *fidelity->mutable_residuals() = ToWire(Eigen::Vector2d(-1, 1));
    fidelity->set_r2(0.5);
    fidelity->set_coverage95(1);
    fidelity->set_inflation(1.5);
    return grpc::Status::OK;
  };
  const auto answer = Connect()->Diagnose("wing");
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->fidelities.size(), 1u);
  EXPECT_EQ(answer->fidelities[0].level, 1);
  EXPECT_EQ(answer->fidelities[0].residuals, Eigen::VectorXd(Eigen::Vector2d(-1, 1)));
  EXPECT_EQ(answer->fidelities[0].r2, 0.5);
  EXPECT_EQ(answer->fidelities[0].coverage95, 1);
  EXPECT_EQ(answer->fidelities[0].inflation, 1.5);
  EXPECT_TRUE(IsError(Connect()->Diagnose("wing", {.revision = "2"}).status(), absl::StatusCode::kInternal,
                      {"residuals of 2 × 1"}));
}

}  // namespace
}  // namespace fidelio::client
