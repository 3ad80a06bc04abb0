// SampleDPP, Suggest and Diagnose through a real channel.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

// One server with one fitted model for all tests: none of them changes it.
class DesignCallsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new TestServer;
    server_->MakeFitted("wing");
  }
  static void TearDownTestSuite() { delete server_; }

  static grpc::Status Suggest(const v1::SuggestRequest& request, v1::SuggestResponse* answer) {
    TestContext context;
    return server_->stub().Suggest(&context, request, answer);
  }
  static grpc::Status Diagnose(const v1::DiagnoseRequest& request, v1::DiagnoseResponse* answer) {
    TestContext context;
    return server_->stub().Diagnose(&context, request, answer);
  }

  static v1::SuggestRequest SuggestFor(const std::string& model, uint32_t count = 1) {
    v1::SuggestRequest request;
    request.set_model("models/" + model);
    request.set_count(count);
    request.set_candidate_count(64);
    request.set_target_count(32);
    return request;
  }

  // Changes the costs of "wing" for one test.
  static void SetCosts(const std::string& model, double low, double high) {
    v1::UpdateModelRequest request;
    request.mutable_model()->set_name("models/" + model);
    request.mutable_update_mask()->add_paths("fidelities");
    for (const auto& [name, cost] : {std::pair("low", low), std::pair("high", high)}) {
      v1::Fidelity* fidelity = request.mutable_model()->add_fidelities();
      fidelity->set_name(name);
      fidelity->set_cost(cost);
    }
    v1::Model model_after;
    TestContext context;
    ASSERT_TRUE(IsOk(server_->stub().UpdateModel(&context, request, &model_after)));
  }

  static std::vector<double> Grid(int n) {
    std::vector<double> grid;
    for (int i = 0; i < n; ++i) grid.push_back((i + 0.5) / n);
    return grid;
  }

  static TestServer* server_;
};

TestServer* DesignCallsTest::server_ = nullptr;

// ---- Suggest ----

TEST_F(DesignCallsTest, SuggestsRunsThatLowerTheVarianceOfTheHighestFidelity) {
  v1::SuggestResponse answer;
  ASSERT_TRUE(IsOk(Suggest(SuggestFor("wing", 3), &answer)));
  ASSERT_EQ(answer.suggestions_size(), 3);
  double cost = 0;
  for (const v1::Suggestion& run : answer.suggestions()) {
    ASSERT_EQ(run.input_size(), 1);
    EXPECT_GE(run.input(0), 0);
    EXPECT_LE(run.input(0), 1);
    EXPECT_LT(run.level(), 2u);
    EXPECT_FALSE(run.fidelity().empty());
    EXPECT_GT(run.value(), 0);
    EXPECT_LT(run.candidate(), 64u);
    cost += run.cost();
  }
  EXPECT_EQ(answer.total_cost(), cost);
  EXPECT_GT(answer.variance_before(), answer.variance_after());
  EXPECT_GE(answer.variance_after(), 0);
  EXPECT_EQ(answer.revision(), "models/wing/revisions/1");
  EXPECT_EQ(answer.data_version(), 1);
}

TEST_F(DesignCallsTest, SuggestsTheSameForTheSameSeed) {
  v1::SuggestRequest request = SuggestFor("wing", 2);
  v1::SuggestResponse first, second, third;
  ASSERT_TRUE(IsOk(Suggest(request, &first)));
  ASSERT_TRUE(IsOk(Suggest(request, &second)));
  EXPECT_EQ(first.SerializeAsString(), second.SerializeAsString());
  request.set_seed(1);
  ASSERT_TRUE(IsOk(Suggest(request, &third)));
  EXPECT_NE(first.SerializeAsString(), third.SerializeAsString());
}

TEST_F(DesignCallsTest, SuggestionsAreAmongTheCallersCandidates) {
  v1::SuggestRequest request = SuggestFor("wing", 2);
  const std::vector<double> grid = Grid(10);
  *request.mutable_candidates() = MakeMatrix(10, 1, grid);
  v1::SuggestResponse answer;
  ASSERT_TRUE(IsOk(Suggest(request, &answer)));
  for (const v1::Suggestion& run : answer.suggestions()) EXPECT_EQ(run.input(0), grid.at(run.candidate()));
}

TEST_F(DesignCallsTest, CostsAndBudgetDecideWhatIsSuggested) {
  server_->MakeFitted("priced");
  SetCosts("priced", 1, 1000);
  v1::SuggestResponse cheap, dear;
  ASSERT_TRUE(IsOk(Suggest(SuggestFor("priced", 2), &cheap)));
  for (const v1::Suggestion& run : cheap.suggestions()) {
    EXPECT_EQ(run.level(), 0u);
    EXPECT_EQ(run.fidelity(), "low");
    EXPECT_EQ(run.cost(), 1);
  }
  SetCosts("priced", 1000, 1);
  v1::SuggestRequest request = SuggestFor("priced", 50);
  request.set_budget(3.5);
  ASSERT_TRUE(IsOk(Suggest(request, &dear)));
  ASSERT_GT(dear.suggestions_size(), 0);
  EXPECT_LE(dear.total_cost(), 3.5);
  for (const v1::Suggestion& run : dear.suggestions()) EXPECT_EQ(run.fidelity(), "high");
  request.clear_budget();
  request.set_count(2);
  request.add_levels(0);
  ASSERT_TRUE(IsOk(Suggest(request, &dear)));
  for (const v1::Suggestion& run : dear.suggestions()) EXPECT_EQ(run.cost(), 1000);
}

TEST_F(DesignCallsTest, OptimisersFindTheMinimumOrTheMaximum) {
  v1::SuggestRequest request = SuggestFor("wing");
  for (const v1::SuggestCriterion criterion :
       {v1::SUGGEST_CRITERION_EXPECTED_IMPROVEMENT, v1::SUGGEST_CRITERION_CONFIDENCE_BOUND}) {
    request.set_criterion(criterion);
    v1::SuggestResponse least, most;
    ASSERT_TRUE(IsOk(Suggest(request, &least)));
    request.set_direction(v1::SUGGEST_DIRECTION_MAXIMISE);
    ASSERT_TRUE(IsOk(Suggest(request, &most)));
    request.clear_direction();
    ASSERT_EQ(least.suggestions_size(), 1);
    ASSERT_EQ(most.suggestions_size(), 1);
    // sin(8x)(1 + x) on [0, 1] is least near 0.6 and largest near 1.
    EXPECT_LT(least.suggestions(0).input(0), most.suggestions(0).input(0)) << criterion;
  }
  request.set_criterion(v1::SUGGEST_CRITERION_MAX_VARIANCE);
  v1::SuggestResponse widest;
  ASSERT_TRUE(IsOk(Suggest(request, &widest)));
  EXPECT_GT(widest.suggestions(0).value(), 0);
}

TEST_F(DesignCallsTest, SuggestNamesFieldValueAndRule) {
  v1::SuggestResponse answer;
  const auto suggest = [&](const std::function<void(v1::SuggestRequest&)>& change) {
    v1::SuggestRequest request = SuggestFor("wing");
    change(request);
    return Suggest(request, &answer);
  };
  ExpectBadField(suggest([](auto& r) { r.set_model("wing"); }), "model", "\"wing\"");
  ExpectBadField(suggest([](auto& r) { r.set_count(2'000'000'000); }), "count", "2000000000, but at most 1000");
  ExpectBadField(suggest([](auto& r) { r.set_budget(0); }), "budget", "0, want more than 0");
  ExpectBadField(suggest([](auto& r) { r.set_budget(std::nan("")); }), "budget", "nan");
  ExpectBadField(suggest([](auto& r) { r.add_levels(0), r.add_levels(2); }), "levels[1]", "2, but model \"wing\" has 2");
  ExpectBadField(suggest([](auto& r) { r.set_criterion(static_cast<v1::SuggestCriterion>(9)); }), "criterion", "9");
  ExpectBadField(suggest([](auto& r) { r.set_direction(v1::SUGGEST_DIRECTION_MAXIMISE); }), "direction", "only");
  ExpectBadField(suggest([](auto& r) { r.set_width(1); }), "width", "only the criterion CONFIDENCE_BOUND");
  ExpectBadField(suggest([](auto& r) {
                   r.set_criterion(v1::SUGGEST_CRITERION_CONFIDENCE_BOUND);
                   r.set_width(-1);
                 }),
                 "width", "-1");
  ExpectBadField(suggest([](auto& r) { *r.mutable_candidates() = MakeMatrix(1, 2, {1, 2}); }), "candidates",
                 "2 columns, but model \"wing\" has input dimension 1");
  ExpectBadField(suggest([](auto& r) { *r.mutable_candidates() = MakeMatrix(1, 1, {std::nan("")}); }), "candidates",
                 "nan");
  ExpectBadField(suggest([](auto& r) { r.mutable_candidates(); }), "candidates", "at least 1 row");
  ExpectBadField(suggest([](auto& r) { r.set_candidate_count(4'000'000'000); }), "candidate_count",
                 "at most 3000 are allowed");
  ExpectBadField(suggest([](auto& r) { r.set_target_count(4'000'000'000); }), "candidate_count",
                 "4000000000 target points");
  ExpectBadField(suggest([](auto& r) { r.set_min_data_version(-1); }), "min_data_version", "-1");
}

// ---- Diagnose ----

TEST_F(DesignCallsTest, DiagnosesEveryFidelity) {
  v1::DiagnoseRequest request;
  request.set_model("models/wing");
  v1::DiagnoseResponse answer;
  ASSERT_TRUE(IsOk(Diagnose(request, &answer)));
  ASSERT_EQ(answer.fidelities_size(), 2);
  for (int t = 0; t < 2; ++t) {
    const v1::FidelityDiagnostics& d = answer.fidelities(t);
    EXPECT_EQ(d.level(), static_cast<uint32_t>(t));
    EXPECT_FALSE(d.fidelity().empty());
    EXPECT_EQ(d.count(), t == 0 ? 8 : 4);
    const std::vector<double> residuals = Values(d.residuals());
    EXPECT_EQ(residuals.size(), static_cast<size_t>(d.count()));
    EXPECT_GE(d.rmse(), 0);
    EXPECT_LE(d.r2(), 1);
    EXPECT_LE(d.coverage50(), d.coverage90());
    EXPECT_LE(d.coverage90(), d.coverage95());
    EXPECT_LE(d.coverage95(), 1);
    EXPECT_TRUE(std::isfinite(d.mean_log_density()));
    EXPECT_GE(d.inflation(), 1);
  }
  EXPECT_EQ(answer.revision(), "models/wing/revisions/1");
  EXPECT_EQ(answer.data_version(), 1);
  request.set_encoding(v1::MATRIX_ENCODING_VALUES);
  ASSERT_TRUE(IsOk(Diagnose(request, &answer)));
  EXPECT_EQ(answer.fidelities(0).residuals().values().values_size(), 8);
  request.set_encoding(static_cast<v1::MatrixEncoding>(7));
  ExpectBadField(Diagnose(request, &answer), "encoding", "7");
}

// ---- All ----

TEST_F(DesignCallsTest, BeforeTheFirstFitThereAreNone) {
  server_->Create("empty");
  v1::SuggestResponse suggestions;
  const auto failure = ExpectError<google::rpc::PreconditionFailure>(
      Suggest(SuggestFor("empty"), &suggestions), grpc::StatusCode::FAILED_PRECONDITION, "has no revision yet");
  EXPECT_EQ(failure.violations(0).type(), "NO_REVISION");
  v1::DiagnoseRequest request;
  request.set_model("models/empty");
  v1::DiagnoseResponse diagnostics;
  ExpectError<google::rpc::PreconditionFailure>(Diagnose(request, &diagnostics),
                                                grpc::StatusCode::FAILED_PRECONDITION, "has no revision yet");
  request.set_model("models/nobody");
  ExpectError<google::rpc::ResourceInfo>(Diagnose(request, &diagnostics), grpc::StatusCode::NOT_FOUND, "nobody");
}

}  // namespace
}  // namespace fidelio
