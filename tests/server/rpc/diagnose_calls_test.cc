// Diagnose through a real channel.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

class DiagnoseCallsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new TestServer;
    server_->MakeFitted("wing");
  }
  static void TearDownTestSuite() { delete server_; }

  static grpc::Status Diagnose(const v1::DiagnoseRequest& request, v1::DiagnoseResponse* answer) {
    TestContext context;
    return server_->stub().Diagnose(&context, request, answer);
  }

  static TestServer* server_;
};

TestServer* DiagnoseCallsTest::server_ = nullptr;

TEST_F(DiagnoseCallsTest, DiagnosesEveryFidelity) {
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
    const std::vector<double> mean = Values(d.mean()), variance = Values(d.variance()), cdf = Values(d.cdf());
    ASSERT_EQ(mean.size(), residuals.size());
    ASSERT_EQ(variance.size(), residuals.size());
    ASSERT_EQ(cdf.size(), residuals.size());
    for (size_t i = 0; i < residuals.size(); ++i) {
      EXPECT_GT(variance[i], 0);
      EXPECT_GE(cdf[i], 0);
      EXPECT_LE(cdf[i], 1);
    }
    EXPECT_GE(d.rmse(), 0);
    EXPECT_EQ(Values(d.median()).size(), residuals.size());
    EXPECT_GT(d.median_rmse(), 0);
    EXPECT_LE(d.r2(), 1);
    EXPECT_LE(d.coverage50(), d.coverage90());
    EXPECT_LE(d.coverage90(), d.coverage95());
    EXPECT_LE(d.coverage95(), 1);
    EXPECT_TRUE(std::isfinite(d.mean_log_density()));
    EXPECT_GE(d.inflation(), 1);
    EXPECT_EQ(d.distinct_count(), d.count());
  }
  EXPECT_EQ(answer.revision(), "models/wing/revisions/1");
  EXPECT_EQ(answer.data_version(), 1);
  EXPECT_EQ(answer.verdict().kind(), v1::VERDICT_KIND_TOO_FEW);
  EXPECT_EQ(answer.verdict().distinct_count(), 4);
  EXPECT_EQ(answer.verdict().more_needed(), 6);
  EXPECT_NE(answer.verdict().text().find("6 more are needed"), std::string::npos) << answer.verdict().text();
  request.set_encoding(v1::MATRIX_ENCODING_VALUES);
  ASSERT_TRUE(IsOk(Diagnose(request, &answer)));
  EXPECT_EQ(answer.fidelities(0).residuals().values().values_size(), 8);
  request.set_encoding(static_cast<v1::MatrixEncoding>(7));
  ExpectBadField(Diagnose(request, &answer), "encoding", "7");
}

// The same table twice: leave-one-out used to predict each row from its copy (R² 1, an error of rounding).
TEST_F(DiagnoseCallsTest, ADoubledTableIsSeenAndLooksNoBetter) {
  server_->Create("doubled");
  server_->Observe("doubled", 24);
  server_->FitAndWait("doubled", 1);
  v1::DiagnoseRequest request;
  request.set_model("models/doubled");
  v1::DiagnoseResponse once, twice;
  ASSERT_TRUE(IsOk(Diagnose(request, &once)));
  server_->Observe("doubled", 24);
  server_->FitAndWait("doubled", 1);
  ASSERT_TRUE(IsOk(Diagnose(request, &twice)));
  EXPECT_EQ(twice.fidelities(1).count(), 24);
  EXPECT_EQ(twice.fidelities(1).distinct_count(), 12);
  EXPECT_EQ(twice.verdict().distinct_count(), 12);
  EXPECT_GT(twice.fidelities(1).rmse(), 0.1 * once.fidelities(1).rmse());
  ASSERT_GE(twice.verdict().warnings_size(), 2);
  const auto warnings = absl::StrJoin(twice.verdict().warnings(), "\n");
  EXPECT_NE(warnings.find("12 of 24 observations of fidelity \"high\" repeat the inputs"), std::string::npos)
      << warnings;
  EXPECT_NE(warnings.find("24 of 48 observations of fidelity \"low\" repeat the inputs"), std::string::npos)
      << warnings;
}

// Every second of n points of a line, and the rest for the low fidelity: nothing that leave-one-out could see.
TEST_F(DiagnoseCallsTest, EvenlySpacedInputsAreWarnedAbout) {
  server_->Create("even");
  v1::AddObservationsRequest observe;
  observe.set_model("models/even");
  for (const int level : {0, 1}) {
    const int n = level == 0 ? 20 : 10;
    std::vector<double> x, y;
    for (int i = 0; i < n; ++i) {
      x.push_back(0.02 + 0.95 * i / (n - 1));
      y.push_back(std::sin(3 * x.back()) + level);
    }
    v1::ObservationBatch* batch = observe.add_observations();
    batch->set_level(static_cast<uint32_t>(level));
    *batch->mutable_inputs() = MakeMatrix(n, 1, x);
    *batch->mutable_outputs() = MakeMatrix(n, 1, y);
  }
  v1::AddObservationsResponse added;
  TestContext context;
  ASSERT_TRUE(IsOk(server_->stub().AddObservations(&context, observe, &added)));
  server_->FitAndWait("even");
  v1::DiagnoseRequest request;
  request.set_model("models/even");
  v1::DiagnoseResponse answer;
  ASSERT_TRUE(IsOk(Diagnose(request, &answer)));
  ASSERT_EQ(answer.verdict().warnings_size(), 1);
  EXPECT_NE(answer.verdict().warnings(0).find("10 values of input x1 at fidelity \"high\" are evenly spaced"),
            std::string::npos)
      << answer.verdict().warnings(0);
}

}  // namespace
}  // namespace fidelio
