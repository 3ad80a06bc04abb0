// Models with an output transform.
#include <cmath>
#include <string>
#include <vector>

#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

struct TransformCase {
  std::string name;
  OutputTransformSpec transform;
  double low, high;  // of the outputs
};

class TransformTest : public ::testing::TestWithParam<TransformCase> {
 protected:
  TransformTest() : server_(directory_.path()) {
    ModelSpec spec = SpecOf(1, 2);
    spec.output_transform = GetParam().transform;
    EXPECT_TRUE(server_->CreateModel(Request(), "wing", spec).ok());
    EXPECT_TRUE(server_->AddObservations(Request(), "wing", "", Data({12, 6}, 1)).ok());
  }

  // Steep near x = ½, nearly at the borders elsewhere.
  double Output(double x, int level) const {
    const double part = 1 / (1 + std::exp(-12 * (x - 0.5) - 0.3 * level));
    return GetParam().low + (GetParam().high - GetParam().low) * part;
  }

  std::vector<ObservationBatch> Data(const std::vector<int>& sizes, uint64_t seed) const {
    std::vector<ObservationBatch> batches = Batches(sizes, 1, seed);
    for (ObservationBatch& batch : batches) {
      for (Eigen::Index i = 0; i < batch.outputs.size(); ++i)
        batch.outputs[i] = Output(batch.inputs(i, 0), *batch.level);
    }
    return batches;
  }

  void ExpectGoodPredictions() {
    const auto loaded = server_->AcquireRevision("wing");
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const Matrix x = Vector::LinSpaced(30, 0, 1);
    const auto p = (*loaded)->emulator().Predict(x, {.quantiles = {0.001, 0.999}});
    ASSERT_TRUE(p.ok()) << p.status();
    for (int i = 0; i < 30; ++i) {
      EXPECT_NEAR(p->mean[i], Output(x(i, 0), 1), 0.1 * (GetParam().high - GetParam().low));
      EXPECT_GE(p->quantiles(i, 0), GetParam().low);
      if (GetParam().transform.kind != OutputTransformKind::kLog) {
        EXPECT_LE(p->quantiles(i, 1), GetParam().high);
      }
    }
  }

  TempDirectory directory_;
  Server server_;
};

TEST_P(TransformTest, PredictionsStayWithinTheBorders) {
  RunFit(server_.service(), "wing");
  ExpectGoodPredictions();
}

TEST_P(TransformTest, ARestartAndAnExportChangeNoBit) {
  RunFit(server_.service(), "wing");
  const Vector before = Answers(server_.service(), "wing");
  ASSERT_TRUE(ImportBytes(server_.service(), ExportBytes(server_.service(), "wing"), "copy").ok());
  EXPECT_EQ(Answers(server_.service(), "copy"), before);
  server_.Close();
  Server again(directory_.path());
  EXPECT_EQ(Answers(again.service(), "wing"), before);
}

TEST_P(TransformTest, ConditionAndWarmStartWork) {
  RunFit(server_.service(), "wing");
  std::vector<ObservationBatch> news = Data({1, 2}, 9);
  news[1].outputs[0] = GetParam().low;  // at the border
  const auto answer = server_->AddObservations(Request(), "wing", "", {news[0]}, ObservationUpdate::kCondition);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ExpectGoodPredictions();
  EXPECT_TRUE(server_->AddObservations(Request(), "wing", "", {news[1]}, ObservationUpdate::kCondition).ok());
  RunFit(server_.service(), "wing", {.warm_start = true});
}

TEST_P(TransformTest, OutputsOutsideAreRefused) {
  std::vector<ObservationBatch> bad = Data({2, 1}, 9);
  bad[0].outputs[1] = GetParam().low - 1;
  EXPECT_TRUE(IsError(server_->AddObservations(Request(), "wing", "", bad).status(), absl::StatusCode::kInvalidArgument,
                      {"observations[0].outputs[1,0]: ", "want "}));
  EXPECT_EQ(server_->GetModel("wing")->data_version, 1);
}

TEST_P(TransformTest, DataThatCantBeTransformedFailTheFitWithTheReason) {
  ModelSpec spec = SpecOf(1, 1);
  spec.output_transform = GetParam().transform;
  ASSERT_TRUE(server_->CreateModel(Request(), "edge", spec).ok());
  std::vector<ObservationBatch> edge = Batches({5}, 1);
  edge[0].outputs.setConstant(GetParam().low);
  ASSERT_TRUE(server_->AddObservations(Request(), "edge", "", edge).ok());
  const auto fit = server_->StartFit(Request(), "edge", "", {});
  ASSERT_TRUE(fit.ok()) << fit.status();
  const FitInfo ended = AwaitFit(server_.service(), "edge", fit->id);
  EXPECT_EQ(ended.state, FitState::kFailed);
  EXPECT_TRUE(IsError(ended.error, absl::StatusCode::kInvalidArgument, {"bound of the transform"}));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, TransformTest,
    ::testing::Values(TransformCase{"Log", {.kind = OutputTransformKind::kLog}, 0, 3},
                      TransformCase{"Logit", {.kind = OutputTransformKind::kLogit}, 0, 1},
                      TransformCase{
                          "Bounded", {.kind = OutputTransformKind::kBounded, .lower = -5, .upper = 20}, -5, 20}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace fidelio
