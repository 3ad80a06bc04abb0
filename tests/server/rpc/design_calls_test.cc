// SampleDPP and Suggest through a real channel, and what all designs have in common.
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

  static grpc::Status SampleDpp(const v1::SampleDPPRequest& request, v1::SampleDPPResponse* answer) {
    TestContext context;
    return server_->stub().SampleDPP(&context, request, answer);
  }
  static grpc::Status Suggest(const v1::SuggestRequest& request, v1::SuggestResponse* answer) {
    TestContext context;
    return server_->stub().Suggest(&context, request, answer);
  }
  static grpc::Status Diagnose(const v1::DiagnoseRequest& request, v1::DiagnoseResponse* answer) {
    TestContext context;
    return server_->stub().Diagnose(&context, request, answer);
  }

  static v1::SampleDPPRequest DppOf(const std::string& model, uint32_t k) {
    v1::SampleDPPRequest request;
    request.set_model("models/" + model);
    request.set_k(k);
    request.set_candidate_count(64);
    return request;
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

// ---- SampleDPP ----

TEST_F(DesignCallsTest, DrawsInputsOfTheBoxAndSaysWhatTheyAreWorth) {
  v1::SampleDPPResponse answer;
  ASSERT_TRUE(IsOk(SampleDpp(DppOf("wing", 4), &answer)));
  EXPECT_EQ(answer.inputs().rows(), 4u);
  EXPECT_EQ(answer.inputs().cols(), 1u);
  for (const double x : Values(answer.inputs())) {
    EXPECT_GE(x, 0);  // the range of the observations, as the model has no box
    EXPECT_LE(x, 1);
  }
  const std::set<uint32_t> indices(answer.indices().begin(), answer.indices().end());
  EXPECT_EQ(indices.size(), 4u);
  EXPECT_LT(*indices.rbegin(), 64u);
  EXPECT_TRUE(std::isfinite(answer.log_determinant()));
  for (const double q : Values(answer.quality())) EXPECT_GT(q, 0);
  EXPECT_GT(answer.variance_before(), answer.variance_after());
  EXPECT_GE(answer.variance_after(), 0);
  EXPECT_EQ(answer.revision(), "models/wing/revisions/1");
  EXPECT_EQ(answer.data_version(), 1);
}

TEST_F(DesignCallsTest, TheSeedDecidesTheDrawAndNotTheMap) {
  v1::SampleDPPRequest request = DppOf("wing", 4);
  *request.mutable_candidates() = MakeMatrix(50, 1, Grid(50));
  const auto sample = [&](v1::DesignMethod method, uint64_t seed) {
    request.set_method(method);
    request.set_seed(seed);
    v1::SampleDPPResponse answer;
    EXPECT_TRUE(IsOk(SampleDpp(request, &answer)));
    return answer.SerializeAsString();
  };
  EXPECT_EQ(sample(v1::DESIGN_METHOD_EXACT, 1), sample(v1::DESIGN_METHOD_EXACT, 1));
  EXPECT_NE(sample(v1::DESIGN_METHOD_EXACT, 1), sample(v1::DESIGN_METHOD_EXACT, 2));
  EXPECT_EQ(sample(v1::DESIGN_METHOD_MAP, 1), sample(v1::DESIGN_METHOD_MAP, 2));
}

TEST_F(DesignCallsTest, ServerMadeCandidatesFillTheModelsBox) {
  server_->MakeFitted("boxed");
  v1::UpdateModelRequest update;
  update.mutable_model()->set_name("models/boxed");
  update.mutable_update_mask()->add_paths("input_box");
  update.mutable_model()->mutable_input_box()->add_lower(2);
  update.mutable_model()->mutable_input_box()->add_upper(3);
  v1::Model model;
  TestContext context;
  ASSERT_TRUE(IsOk(server_->stub().UpdateModel(&context, update, &model)));
  v1::SampleDPPRequest request = DppOf("boxed", 3);
  v1::SampleDPPResponse answer;
  ASSERT_TRUE(IsOk(SampleDpp(request, &answer)));
  for (const double x : Values(answer.inputs())) {
    EXPECT_GE(x, 2);
    EXPECT_LE(x, 3);
  }
}

TEST_F(DesignCallsTest, NoCandidateIsBetterThanAnotherUnlessQualityIsAskedFor) {
  v1::SampleDPPRequest request = DppOf("wing", 3);
  v1::SampleDPPResponse by_default, none, mean;
  ASSERT_TRUE(IsOk(SampleDpp(request, &by_default)));
  EXPECT_EQ(Values(by_default.quality()), std::vector<double>({1, 1, 1}));
  request.set_quality_mode(v1::QUALITY_MODE_NONE);
  ASSERT_TRUE(IsOk(SampleDpp(request, &none)));
  EXPECT_EQ(none.SerializeAsString(), by_default.SerializeAsString());
  request.set_quality_mode(v1::QUALITY_MODE_MEAN);
  ASSERT_TRUE(IsOk(SampleDpp(request, &mean)));
  const std::vector<double> q = Values(mean.quality());
  EXPECT_NE(q[0], q[1]);
}

TEST_F(DesignCallsTest, AnswersFollowTheEncodingAndTheOrderOfTheCandidates) {
  v1::SampleDPPRequest request = DppOf("wing", 2);
  v1::Matrix& candidates = *request.mutable_candidates();
  const std::vector<double> grid = Grid(20);
  candidates.set_rows(20);
  candidates.set_cols(1);
  candidates.mutable_values()->mutable_values()->Add(grid.begin(), grid.end());
  v1::SampleDPPResponse answer;
  ASSERT_TRUE(IsOk(SampleDpp(request, &answer)));
  ASSERT_EQ(answer.indices_size(), 2);
  ASSERT_EQ(answer.inputs().values().values_size(), 2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(answer.inputs().values().values(i), grid.at(answer.indices(i)));
  request.set_encoding(v1::MATRIX_ENCODING_F64_LE);
  ASSERT_TRUE(IsOk(SampleDpp(request, &answer)));
  EXPECT_EQ(Values(answer.inputs()).size(), 2u);
}

TEST_F(DesignCallsTest, GivenQualityDecidesWhatIsChosen) {
  v1::SampleDPPRequest request = DppOf("wing", 1);
  *request.mutable_candidates() = MakeMatrix(3, 1, {0.15, 0.5, 0.85});
  request.set_method(v1::DESIGN_METHOD_MAP);
  request.set_quality_mode(v1::QUALITY_MODE_GIVEN);
  for (int best = 0; best < 3; ++best) {
    std::vector<double> quality(3, 1e-6);
    quality[static_cast<size_t>(best)] = 1e6;
    *request.mutable_quality() = MakeMatrix(3, 1, quality);
    v1::SampleDPPResponse answer;
    ASSERT_TRUE(IsOk(SampleDpp(request, &answer)));
    EXPECT_EQ(answer.indices(0), static_cast<uint32_t>(best));
    EXPECT_EQ(Values(answer.quality()), std::vector<double>({1e6}));
  }
}

TEST_F(DesignCallsTest, ObservedInputsOfTheLevelAreExcludedOnRequest) {
  // Level 1 was observed at 0, 1/3, 2/3 and 1; level 0 at multiples of 1/7.
  v1::SampleDPPRequest request = DppOf("wing", 1);
  *request.mutable_candidates() = MakeMatrix(3, 1, {0, 1, 1.0 / 7});
  request.set_quality_mode(v1::QUALITY_MODE_GIVEN);
  *request.mutable_quality() = MakeMatrix(3, 1, {1, 1, 1});
  request.set_exclude_observed(true);
  v1::SampleDPPResponse answer;
  ASSERT_TRUE(IsOk(SampleDpp(request, &answer)));
  EXPECT_EQ(answer.indices(0), 2u);
  request.set_level(0);
  ExpectBadField(SampleDpp(request, &answer), "k", "of 3 candidates 3 are excluded");
}

TEST_F(DesignCallsTest, AKBeyondTheRankIsRefusedWithTheRank) {
  v1::SampleDPPRequest request = DppOf("wing", 900);
  request.set_candidate_count(1000);
  for (const v1::DesignMethod method : {v1::DESIGN_METHOD_EXACT, v1::DESIGN_METHOD_MAP}) {
    request.set_method(method);
    v1::SampleDPPResponse answer;
    ExpectBadField(SampleDpp(request, &answer), "k", "numerical rank");
  }
}

TEST_F(DesignCallsTest, SampleDppNamesFieldValueAndRule) {
  v1::SampleDPPResponse answer;
  const auto sample = [&](const std::function<void(v1::SampleDPPRequest&)>& change) {
    v1::SampleDPPRequest request = DppOf("wing", 1);
    change(request);
    return SampleDpp(request, &answer);
  };
  ExpectBadField(sample([](auto& r) { r.set_model("wing"); }), "model", "\"wing\"");
  ExpectBadField(sample([](auto& r) { r.set_k(4'000'000'000); }), "k", "4000000000, but at most 1000");
  ExpectBadField(sample([](auto& r) { r.set_k(65); }), "k", "65");
  ExpectBadField(sample([](auto& r) { r.set_level(2); }), "level", "2, but model \"wing\" has 2 fidelities");
  ExpectBadField(sample([](auto& r) { r.set_candidate_count(4'000'000'000); }), "candidate_count",
                 "4000000000 candidates, but at most 2500");
  ExpectBadField(sample([](auto& r) { r.mutable_candidates()->set_rows(4'000'000'000); }), "candidates", "0 columns");
  ExpectBadField(sample([](auto& r) {
                   *r.mutable_candidates() = MakeMatrix(1, 2, {1, 2});
                 }),
                 "candidates", "2 columns, but model \"wing\" has input dimension 1");
  ExpectBadField(sample([](auto& r) { *r.mutable_candidates() = MakeMatrix(1, 1, {INFINITY}); }), "candidates", "inf");
  ExpectBadField(sample([](auto& r) { r.mutable_candidates(); }), "candidates", "at least 1 row");
  ExpectBadField(sample([](auto& r) { r.set_method(static_cast<v1::DesignMethod>(9)); }), "method", "9");
  ExpectBadField(sample([](auto& r) { r.set_quality_mode(static_cast<v1::QualityMode>(9)); }), "quality_mode", "9");
  ExpectBadField(sample([](auto& r) { r.set_encoding(static_cast<v1::MatrixEncoding>(9)); }), "encoding", "9");
  ExpectBadField(sample([](auto& r) { *r.mutable_quality() = MakeMatrix(1, 1, {1}); }), "quality", "not GIVEN");
  ExpectBadField(sample([](auto& r) { r.set_quality_mode(v1::QUALITY_MODE_GIVEN); }), "quality", "missing");
  const auto given = [](v1::SampleDPPRequest& r, const std::vector<double>& quality) {
    r.set_quality_mode(v1::QUALITY_MODE_GIVEN);
    *r.mutable_quality() = MakeMatrix(static_cast<int>(quality.size()), 1, quality);
  };
  ExpectBadField(sample([&](auto& r) { given(r, {1}); }), "candidates", "missing");
  ExpectBadField(sample([&](auto& r) {
                   *r.mutable_candidates() = MakeMatrix(2, 1, {0.1, 0.2});
                   given(r, {1, 2, 3});
                 }),
                 "quality", "3 rows, but there are 2 candidates");
  ExpectBadField(sample([&](auto& r) {
                   *r.mutable_candidates() = MakeMatrix(2, 1, {0.1, 0.2});
                   given(r, {1, -2});
                 }),
                 "quality[1]", "-2");
}

TEST_F(DesignCallsTest, WithoutABoxAndWithoutARangeTheErrorSaysWhatToDo) {
  server_->Create("point");
  v1::AddObservationsRequest observe;
  observe.set_model("models/point");
  v1::ObservationBatch* batch = observe.add_observations();
  batch->set_level(0);
  *batch->mutable_inputs() = MakeMatrix(3, 1, {0.5, 0.5, 0.5});
  *batch->mutable_outputs() = MakeMatrix(3, 1, {1, 1.1, 0.9});
  v1::AddObservationsResponse added;
  TestContext context;
  ASSERT_TRUE(IsOk(server_->stub().AddObservations(&context, observe, &added)));
  server_->FitAndWait("point");
  v1::SampleDPPResponse answer;
  const auto failure = ExpectError<google::rpc::PreconditionFailure>(
      SampleDpp(DppOf("point", 1), &answer), grpc::StatusCode::FAILED_PRECONDITION, "has no input_box");
  EXPECT_EQ(failure.violations(0).type(), "NO_INPUT_BOX");
  EXPECT_NE(failure.violations(0).description().find("UpdateModel"), std::string::npos);
}

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
  v1::SuggestResponse cheap, expensive;
  ASSERT_TRUE(IsOk(Suggest(SuggestFor("priced", 2), &cheap)));
  for (const v1::Suggestion& run : cheap.suggestions()) {
    EXPECT_EQ(run.level(), 0u);
    EXPECT_EQ(run.fidelity(), "low");
    EXPECT_EQ(run.cost(), 1);
  }
  SetCosts("priced", 1000, 1);
  v1::SuggestRequest request = SuggestFor("priced", 50);
  request.set_budget(3.5);
  ASSERT_TRUE(IsOk(Suggest(request, &expensive)));
  ASSERT_GT(expensive.suggestions_size(), 0);
  EXPECT_LE(expensive.total_cost(), 3.5);
  for (const v1::Suggestion& run : expensive.suggestions()) EXPECT_EQ(run.fidelity(), "high");
  request.clear_budget();
  request.set_count(2);
  request.add_levels(0);
  ASSERT_TRUE(IsOk(Suggest(request, &expensive)));
  for (const v1::Suggestion& run : expensive.suggestions()) EXPECT_EQ(run.cost(), 1000);
}

TEST_F(DesignCallsTest, TooFewSuggestionsHaveAReason) {
  server_->MakeFitted("short");
  SetCosts("short", 10, 30);
  const auto reason = [](const std::function<void(v1::SuggestRequest&)>& change) {
    v1::SuggestRequest request = SuggestFor("short", 3);
    change(request);
    v1::SuggestResponse answer;
    EXPECT_TRUE(IsOk(Suggest(request, &answer)));
    EXPECT_EQ(answer.suggestions_size() == 3, answer.shortfall_reason().empty());
    return answer.shortfall_reason();
  };
  EXPECT_EQ(reason([](auto&) {}), "");
  EXPECT_EQ(reason([](auto& r) { r.set_budget(4); }),
            "The budget of 4 is below the cost of every fidelity that may be run: the cheapest, \"low\", costs 10.");
  EXPECT_EQ(reason([](auto& r) {
              r.set_budget(20);
              r.add_levels(1);
            }),
            "The budget of 20 is below the cost of every fidelity that may be run: the cheapest, \"high\", costs 30.");
  EXPECT_EQ(reason([](auto& r) {
              r.set_budget(64);
              r.add_levels(1);
            }),
            "The budget is spent after 2 runs: 4 of 64 is left, and the cheapest fidelity, \"high\", costs 30.");
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
  ExpectBadField(suggest([](auto& r) { r.add_levels(0), r.add_levels(2); }), "levels[1]",
                 "2, but model \"wing\" has 2");
  ExpectBadField(suggest([](auto& r) { r.set_criterion(static_cast<v1::SuggestCriterion>(9)); }), "criterion", "9");
  ExpectBadField(suggest([](auto& r) { r.set_direction(v1::SUGGEST_DIRECTION_MAXIMISE); }), "direction", "only");
  ExpectBadField(suggest([](auto& r) { r.set_width(1); }), "width", "only the criterion CONFIDENCE_BOUND");
  ExpectBadField(suggest([](auto& r) {
                   r.set_criterion(v1::SUGGEST_CRITERION_CONFIDENCE_BOUND);
                   r.set_width(-1);
                 }),
                 "width", "-1");
  ExpectBadField(suggest([](auto& r) {
                   *r.mutable_candidates() = MakeMatrix(1, 2, {1, 2});
                 }),
                 "candidates", "2 columns, but model \"wing\" has input dimension 1");
  ExpectBadField(suggest([](auto& r) { *r.mutable_candidates() = MakeMatrix(1, 1, {std::nan("")}); }), "candidates",
                 "nan");
  ExpectBadField(suggest([](auto& r) { r.mutable_candidates(); }), "candidates", "at least 1 row");
  ExpectBadField(suggest([](auto& r) { r.set_candidate_count(4'000'000'000); }), "candidate_count",
                 "at most 2500 are allowed");
  ExpectBadField(suggest([](auto& r) { r.set_target_count(4'000'000'000); }), "candidate_count",
                 "4000000000 target points");
  ExpectBadField(suggest([](auto& r) { r.set_min_data_version(-1); }), "min_data_version", "-1");
}

// ---- All ----

TEST_F(DesignCallsTest, BeforeTheFirstFitThereAreNone) {
  server_->Create("empty");
  v1::SuggestResponse suggestions;
  const auto failure = ExpectError<google::rpc::PreconditionFailure>(
      Suggest(SuggestFor("empty"), &suggestions), grpc::StatusCode::FAILED_PRECONDITION, "has no revision yet");
  EXPECT_EQ(failure.violations(0).type(), "NO_REVISION");
  v1::SampleDPPResponse design;
  ExpectError<google::rpc::PreconditionFailure>(SampleDpp(DppOf("empty", 1), &design),
                                                grpc::StatusCode::FAILED_PRECONDITION, "has no revision yet");
  v1::DiagnoseRequest request;
  request.set_model("models/empty");
  v1::DiagnoseResponse diagnostics;
  ExpectError<google::rpc::PreconditionFailure>(Diagnose(request, &diagnostics), grpc::StatusCode::FAILED_PRECONDITION,
                                                "has no revision yet");
  request.set_model("models/nobody");
  ExpectError<google::rpc::ResourceInfo>(Diagnose(request, &diagnostics), grpc::StatusCode::NOT_FOUND, "nobody");
}

}  // namespace
}  // namespace fidelio
