// Samples that are functions, of models of every kind and inference, by a client of the program fidelio-server.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/client.h"
#include "core/registry/emulator_registry.h"
#include "gtest/gtest.h"
#include "tests/e2e/e2e_server.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

struct Case {
  v1::ModelKind kind;
  v1::Inference inference;
  bool log = false;  // outputs on a logarithmic scale
};

// As the test's name.
std::string NameOf(const Case& c) {
  const std::string name = v1::ModelKind_Name(c.kind).substr(std::string("MODEL_KIND_").size()) + "_" +
                           v1::Inference_Name(c.inference).substr(std::string("INFERENCE_").size());
  return c.log ? name + "_LOG" : name;
}

class FunctionsTest : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<client::Client> Connect(E2eServer& server) {
    auto client =
        client::Client::Connect({.channel = {.server = server.process().address()}, .timeout = absl::Minutes(2)});
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

  void MakeWing(client::Client& client) {
    v1::Model model;
    model.set_kind(GetParam().kind);
    model.set_input_dimension(1);
    if (GetParam().log) model.mutable_output_transform()->set_kind(v1::OUTPUT_TRANSFORM_KIND_LOG);
    for (const char* name : {"coarse", "fine"}) model.add_fidelities()->set_name(name);
    const auto created = client.CreateModel("wing", model);
    ASSERT_TRUE(created.ok()) << created.status();
    for (const int level : {0, 1}) {
      const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(level == 0 ? 9 : 5, 0, 1);
      client::Observations batch{.level = level, .inputs = x};
      batch.outputs = x.unaryExpr([level](double at) { return 2.5 + std::sin(7 * at) + 0.3 * level * at; });
      const auto added = client.AddObservations("wing", {batch});
      ASSERT_TRUE(added.ok()) << added.status();
    }
    v1::FitOptions options;
    options.set_inference(GetParam().inference);
    if (GetParam().inference == v1::INFERENCE_SVI) options.set_steps(300);
    options.mutable_budget()->set_iterations(300);
    const auto fit = client.Fit("wing", options);
    ASSERT_TRUE(fit.ok()) << fit.status();
    const auto ended = client.WatchFit(fit->name(), nullptr);
    ASSERT_TRUE(ended.ok()) << ended.status();
    ASSERT_EQ(ended->state(), v1::FIT_STATE_SUCCEEDED) << ended->DebugString();
  }

  Eigen::MatrixXd Functions(client::Client& client, const Eigen::VectorXd& x, int count) {
    const auto samples = client.SamplePaths("wing", x, {.count = count, .kind = v1::PATH_KIND_FUNCTION, .seed = 4});
    EXPECT_TRUE(samples.ok()) << samples.status();
    return samples.ok() ? samples->values : Eigen::MatrixXd();
  }

  const TempDirectory directory_;
};

TEST_P(FunctionsTest, AreTheSameInEveryCallAndAfterARestartAndHaveThePredictedMoments) {
  constexpr int kCount = 400;
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(12, -0.1, 1.3);
  Eigen::MatrixXd all;
  {
    E2eServer server(directory_ / "data");
    const auto client = Connect(server);
    MakeWing(*client);
    all = Functions(*client, x, kCount);
    ASSERT_EQ(all.rows(), kCount);
    const auto p = client->Predict("wing", x, {});
    ASSERT_TRUE(p.ok()) << p.status();
    for (int i = 0; i < x.size(); ++i) {
      const double mean = all.col(i).mean(), sd = std::sqrt((all.col(i).array() - mean).square().mean());
      EXPECT_NEAR(mean, p->mean[i], 5 * sd / std::sqrt(kCount) + 0.05 * std::sqrt(p->variance[i])) << i;
      if (GetParam().log) continue;  // a few of many exponentials may have most of the variance
      EXPECT_NEAR(std::log(sd), 0.5 * std::log(p->variance[i]), 0.3) << i;
    }
  }
  E2eServer server(directory_ / "data");
  const auto client = Connect(server);
  EXPECT_EQ(Functions(*client, x, kCount), all);
  const Eigen::MatrixXd few = Functions(*client, x.tail(2), 3);
  ASSERT_EQ(few.cols(), 2);
  EXPECT_LT((few - all.topRightCorner(3, 2)).cwiseAbs().maxCoeff(), 1e-8 * (1 + all.cwiseAbs().maxCoeff()));
}

// Every method as its first use, and one with an output transform.
std::vector<Case> Cases() {
  std::vector<Case> cases = {{v1::MODEL_KIND_GP, v1::INFERENCE_MOMENTS},
                             {v1::MODEL_KIND_AR1, v1::INFERENCE_MOMENTS, true}};
  for (const EmulatorMethod& method : EmulatorMethods()) {
    const MethodUse& use = method.uses.front();
    cases.push_back({static_cast<v1::ModelKind>(use.kind), static_cast<v1::Inference>(use.inference)});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Kinds, FunctionsTest, ::testing::ValuesIn(Cases()),
                         [](const auto& c) { return NameOf(c.param); });

}  // namespace
}  // namespace fidelio
