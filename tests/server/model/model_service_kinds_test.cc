// Models of every kind by ModelService: created, fitted, served, asked for designs, and the same after a restart.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/model/enum_names.h"
#include "server/model/method_choice.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

class EveryKindTest : public ::testing::TestWithParam<ModelKind> {
 protected:
  void MakeWing(Server& server) {
    ModelSpec spec = SpecOf(1, 2);
    spec.kind = GetParam();
    ASSERT_TRUE(server->CreateModel(Request(), "wing", spec).ok());
    ASSERT_TRUE(server->AddObservations(Request(), "wing", "", Batches({10, 6}, 1)).ok());
    const FitInfo fit = RunFit(server.service(), "wing");
    EXPECT_NE(fit.inference, Inference::kAuto);
    EXPECT_FALSE(fit.inference_reason.empty());
  }

  std::vector<int> Design(Server& server) {
    const auto revision = server->AcquireRevision("wing");
    EXPECT_TRUE(revision.ok()) << revision.status();
    DppQuery query;
    query.options.k = 3;
    query.source.count = 32;
    const auto design = server->SampleDpp(**revision, query, GoOn);
    EXPECT_TRUE(design.ok()) << design.status();
    return design->indices;
  }

  TempDirectory directory_;
};

TEST_P(EveryKindTest, ServesTheSameAfterARestart) {
  Vector before;
  std::vector<int> design;
  {
    Server server(directory_.path());
    MakeWing(server);
    before = Answers(server.service(), "wing");
    design = Design(server);
    EXPECT_EQ(design.size(), 3u);
  }
  Server server(directory_.path());
  EXPECT_EQ(Answers(server.service(), "wing"), before);
  EXPECT_EQ(Design(server), design);
  const auto revision = server->AcquireRevision("wing");
  ASSERT_TRUE(revision.ok()) << revision.status();
  EXPECT_EQ((*revision)->info().kind, GetParam());
}

TEST_P(EveryKindTest, SuggestsDiagnosesAndTakesNewObservations) {
  Server server(directory_.path());
  MakeWing(server);
  const auto revision = server->AcquireRevision("wing");
  ASSERT_TRUE(revision.ok()) << revision.status();
  SuggestQuery query;
  query.source.count = 32;
  query.target_count = 16;
  EXPECT_TRUE(server->Suggest(**revision, query, GoOn).ok());
  EXPECT_TRUE(server->Diagnose(**revision, GoOn).ok());
  const Vector before = Answers(server.service(), "wing");
  const auto added =
      server->AddObservations(Request(), "wing", "", Batches({0, 2}, 1, /*seed=*/9), ObservationUpdate::kCondition);
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_NE(Answers(server.service(), "wing"), before);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKindTest, ::testing::ValuesIn(SupportedKinds()),
                         [](const auto& kind) { return std::string(NameOf(kind.param)); });

}  // namespace
}  // namespace fidelio
