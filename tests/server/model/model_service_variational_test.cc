// Models of inference VARIATIONAL and SVI by ModelService: fitted, served, asked for designs, and the same after a restart.
#include <memory>

#include "gtest/gtest.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class SparseInferenceTest : public ::testing::TestWithParam<Inference> {
 protected:
  FitSpec Spec() const {
    FitSpec spec{.inference = GetParam(), .seed = 3, .method_options = {{"inducing_points", 20}}};
    if (GetParam() == Inference::kSvi) spec.method_options["steps"] = 200;
    return spec;
  }
  TempDirectory directory_;
};

TEST_P(SparseInferenceTest, ServesTheSameAfterARestart) {
  Vector before;
  {
    Server server(directory_.path());
    MakeModel(server.service(), "wing");
    const FitInfo fit = RunFit(server.service(), "wing", Spec());
    EXPECT_EQ(fit.inference, GetParam());
    EXPECT_EQ(fit.options.method_options, Spec().method_options);
    before = Answers(server.service(), "wing");
  }
  Server server(directory_.path());
  EXPECT_EQ(Answers(server.service(), "wing"), before);
  const auto revision = server->AcquireRevision("wing");
  ASSERT_TRUE(revision.ok()) << revision.status();
  EXPECT_EQ((*revision)->info().inference, GetParam());
}

TEST_P(SparseInferenceTest, GivesDesignsAndDiagnosesAndTakesNewObservations) {
  Server server(directory_.path());
  MakeModel(server.service(), "wing");
  RunFit(server.service(), "wing", Spec());
  const auto revision = server->AcquireRevision("wing");
  ASSERT_TRUE(revision.ok()) << revision.status();
  DppQuery query;
  query.options.k = 3;
  query.source.count = 32;
  const auto design = server->SampleDpp(**revision, query, [] { return absl::OkStatus(); });
  ASSERT_TRUE(design.ok()) << design.status();
  EXPECT_EQ(design->indices.size(), 3u);
  EXPECT_TRUE(server->Diagnose(**revision, [] { return absl::OkStatus(); }).ok());
  const auto added =
      server->AddObservations(Request(), "wing", "", Batches({0, 2}, 1, /*seed=*/9), ObservationUpdate::kCondition);
  ASSERT_TRUE(added.ok()) << added.status();
}

INSTANTIATE_TEST_SUITE_P(Inferences, SparseInferenceTest, ::testing::Values(Inference::kVariational, Inference::kSvi),
                         [](const auto& inference) {
                           return inference.param == Inference::kSvi ? "Svi" : "Variational";
                         });

}  // namespace
}  // namespace fidelio
