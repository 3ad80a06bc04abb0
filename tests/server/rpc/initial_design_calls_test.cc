// InitialDesign through a real channel.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

class InitialDesignCallsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new TestServer;
    server_->MakeFitted("wing");
  }
  static void TearDownTestSuite() { delete server_; }

  static grpc::Status InitialDesign(const v1::InitialDesignRequest& request, v1::InitialDesignResponse* answer) {
    TestContext context;
    return server_->stub().InitialDesign(&context, request, answer);
  }
  static void SetBox(const std::string& model, double lower, double upper) {
    v1::UpdateModelRequest request;
    request.mutable_model()->set_name("models/" + model);
    request.mutable_update_mask()->add_paths("input_box");
    request.mutable_model()->mutable_input_box()->add_lower(lower);
    request.mutable_model()->mutable_input_box()->add_upper(upper);
    v1::Model after;
    TestContext context;
    ASSERT_TRUE(IsOk(server_->stub().UpdateModel(&context, request, &after)));
  }
  static void SetCosts(const std::string& model, double low, double high) {
    v1::UpdateModelRequest request;
    request.mutable_model()->set_name("models/" + model);
    request.mutable_update_mask()->add_paths("fidelities");
    for (const auto& [name, cost] : {std::pair("low", low), std::pair("high", high)}) {
      v1::Fidelity* fidelity = request.mutable_model()->add_fidelities();
      fidelity->set_name(name);
      fidelity->set_cost(cost);
    }
    v1::Model after;
    TestContext context;
    ASSERT_TRUE(IsOk(server_->stub().UpdateModel(&context, request, &after)));
  }

  static TestServer* server_;
};

TestServer* InitialDesignCallsTest::server_ = nullptr;

TEST_F(InitialDesignCallsTest, InitialDesignsNeedABoxAndNoFit) {
  server_->Create("fresh");
  v1::InitialDesignRequest request;
  request.set_model("models/fresh");
  const auto count = [&](uint32_t level, uint32_t n) {
    request.add_counts()->set_level(level);
    request.mutable_counts(request.counts_size() - 1)->set_count(n);
  };
  count(1, 4);
  count(0, 12);
  v1::InitialDesignResponse answer;
  const auto failure = ExpectError<google::rpc::PreconditionFailure>(
      InitialDesign(request, &answer), grpc::StatusCode::FAILED_PRECONDITION, "has no input_box and no observations");
  EXPECT_EQ(failure.violations(0).type(), "NO_INPUT_BOX");
  EXPECT_NE(failure.violations(0).description().find("UpdateModel"), std::string::npos);
  SetBox("fresh", 10, 20);
  SetCosts("fresh", 1, 7);
  ASSERT_TRUE(IsOk(InitialDesign(request, &answer)));
  ASSERT_EQ(answer.designs_size(), 2);
  EXPECT_EQ(answer.designs(0).level(), 0u);
  EXPECT_EQ(answer.designs(0).fidelity(), "low");
  EXPECT_EQ(answer.designs(0).inputs().rows(), 12u);
  EXPECT_EQ(answer.designs(1).fidelity(), "high");
  EXPECT_EQ(answer.designs(1).inputs().rows(), 4u);
  EXPECT_EQ(answer.total_cost(), 12 + 4 * 7);
  EXPECT_EQ(answer.data_version(), 0);
  std::set<double> all;
  for (const v1::FidelityInputs& design : answer.designs()) {
    for (const double x : Values(design.inputs())) {
      EXPECT_GE(x, 10);
      EXPECT_LE(x, 20);
      all.insert(x);
    }
  }
  EXPECT_EQ(all.size(), 16u);

  v1::InitialDesignResponse again, other, latin, nested;
  ASSERT_TRUE(IsOk(InitialDesign(request, &again)));
  EXPECT_EQ(again.SerializeAsString(), answer.SerializeAsString());
  request.set_seed(1);
  ASSERT_TRUE(IsOk(InitialDesign(request, &other)));
  EXPECT_NE(other.SerializeAsString(), answer.SerializeAsString());
  request.set_method(v1::INITIAL_DESIGN_METHOD_LATIN_HYPERCUBE);
  ASSERT_TRUE(IsOk(InitialDesign(request, &latin)));
  std::set<int> cells;
  for (const double x : Values(latin.designs(0).inputs())) cells.insert(static_cast<int>((x - 10) / 10 * 12));
  EXPECT_EQ(cells.size(), 12u);
  request.set_nested(true);
  ASSERT_TRUE(IsOk(InitialDesign(request, &nested)));
  const std::vector<double> low = Values(nested.designs(0).inputs());
  for (const double x : Values(nested.designs(1).inputs())) EXPECT_EQ(std::count(low.begin(), low.end(), x), 1);
}

TEST_F(InitialDesignCallsTest, InitialDesignsKeepAwayFromObservedAndPendingInputs) {
  v1::InitialDesignRequest request;  // "wing" has no box: the range of its observations is [0, 1]
  request.set_model("models/wing");
  request.add_counts()->set_level(1);
  request.mutable_counts(0)->set_count(6);
  v1::InitialDesignResponse answer, more;
  ASSERT_TRUE(IsOk(InitialDesign(request, &answer)));
  EXPECT_EQ(answer.data_version(), 1);
  std::vector<double> taken = {0, 1.0 / 3, 2.0 / 3, 1};
  const std::vector<double> first = Values(answer.designs(0).inputs());
  taken.insert(taken.end(), first.begin(), first.end());
  v1::FidelityInputs* pending = request.add_pending();
  pending->set_level(1);
  *pending->mutable_inputs() = answer.designs(0).inputs();
  ASSERT_TRUE(IsOk(InitialDesign(request, &more)));
  for (const double x : Values(more.designs(0).inputs())) {
    for (const double other : taken) EXPECT_GT(std::abs(x - other), 0.01) << x;
  }
}

TEST_F(InitialDesignCallsTest, InitialDesignNamesFieldValueAndRule) {
  const auto design = [](const std::function<void(v1::InitialDesignRequest&)>& change) {
    v1::InitialDesignRequest request;
    request.set_model("models/wing");
    request.add_counts()->set_count(3);
    change(request);
    v1::InitialDesignResponse answer;
    return InitialDesign(request, &answer);
  };
  EXPECT_TRUE(IsOk(design([](auto&) {})));
  ExpectBadField(design([](auto& r) { r.set_model("wing"); }), "model", "wing");
  ExpectBadField(design([](auto& r) { r.clear_counts(); }), "counts", "none");
  ExpectBadField(design([](auto& r) { r.mutable_counts(0)->set_level(2); }), "counts[0].level", "2");
  ExpectBadField(design([](auto& r) { r.mutable_counts(0)->set_count(0); }), "counts[0].count", "1 to 100000");
  ExpectBadField(design([](auto& r) { r.mutable_counts(0)->set_count(100001); }), "counts[0].count", "100001");
  ExpectBadField(design([](auto& r) { *r.add_counts() = r.counts(0); }), "counts[1].level", "given twice");
  ExpectBadField(design([](auto& r) { r.set_method(static_cast<v1::InitialDesignMethod>(9)); }), "method", "9");
  ExpectBadField(design([](auto& r) { r.set_encoding(static_cast<v1::MatrixEncoding>(9)); }), "encoding", "9");
  ExpectBadField(design([](auto& r) {
                   *r.add_pending()->mutable_inputs() = MakeMatrix(1, 2, {0, 0});
                 }),
                 "pending[0].inputs", "2 columns");
  ExpectBadField(design([](auto& r) {
                   *r.add_pending()->mutable_inputs() = MakeMatrix(1, 1, {0});
                   r.mutable_pending(0)->set_level(5);
                 }),
                 "pending[0].level", "5");
  ExpectBadField(design([](auto& r) { *r.add_pending()->mutable_inputs() = MakeMatrix(1, 1, {std::nan("")}); }),
                 "pending[0].inputs[0,0]", "nan");
  ExpectBadField(design([](auto& r) {
                   r.set_nested(true);
                   r.mutable_counts(0)->set_level(1);
                   r.mutable_counts(0)->set_count(50);
                 }),
                 "counts[0].count", "can choose only among");
  ExpectError<google::rpc::ResourceInfo>(design([](auto& r) { r.set_model("models/nobody"); }),
                                         grpc::StatusCode::NOT_FOUND, "nobody");
}

}  // namespace
}  // namespace fidelio
