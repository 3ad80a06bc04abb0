// Every kind of model, by every inference that it has, through the program fidelio-server: created, observed, fitted, asked for
// predictions, joint covariances and designs, and the same to the bit after a kill.
#include <signal.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/client.h"
#include "core/registry/emulator_registry.h"
#include "gtest/gtest.h"
#include "tests/e2e/e2e_server.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

struct Way {
  std::string name;
  v1::ModelKind kind;
  v1::Inference inference;
  bool highest_only;
};

// All that is asked of a model, for comparing.
struct Answers {
  client::Prediction low, high;
  client::DppDesign design;
};

class EveryKindTest : public ::testing::TestWithParam<Way> {
 protected:
  // The server under test, on the same data directory as the one before.
  void Start() {
    server_ = std::make_unique<E2eServer>(directory_ / "data");
    auto client =
        client::Client::Connect({.channel = {.server = server_->process().address()}, .timeout = absl::Minutes(2)});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  void Kill() {
    server_->process().Signal(SIGKILL);
    EXPECT_EQ(server_->process().Wait(), -SIGKILL);
    client_.reset();
    server_.reset();
  }

  void CreateAndObserve() {
    v1::Model model;
    model.set_input_dimension(1);
    model.set_kind(GetParam().kind);
    model.mutable_input_box()->add_lower(0);
    model.mutable_input_box()->add_upper(1);
    model.add_fidelities()->set_name("coarse");
    model.add_fidelities()->set_name("fine");
    const auto created = client_->CreateModel(kModel, model);
    ASSERT_TRUE(created.ok()) << created.status();
    std::vector<client::Observations> batches;
    for (const int n : {12, 5}) {
      client::Observations batch{.level = n == 12 ? 0 : 1, .inputs = Eigen::VectorXd::LinSpaced(n, 0, 1)};
      const double tilt = n == 12 ? 0 : 0.5;
      batch.outputs = batch.inputs.col(0).unaryExpr([tilt](double x) { return std::sin(8 * x) + tilt * x; });
      batches.push_back(batch);
    }
    const auto added = client_->AddObservations(kModel, batches);
    ASSERT_TRUE(added.ok()) << added.status();
  }

  void Fit() {
    v1::FitOptions options;
    options.set_inference(GetParam().inference);
    options.set_seed(3);
    if (GetParam().inference == v1::INFERENCE_SVI) {
      options.set_steps(300);
    } else {
      options.mutable_budget()->set_iterations(60);
    }
    const auto fit = client_->Fit(kModel, options);
    ASSERT_TRUE(fit.ok()) << fit.status();
    const auto ended = client_->WatchFit(fit->name(), nullptr);
    ASSERT_TRUE(ended.ok()) << ended.status();
    ASSERT_EQ(ended->state(), v1::FIT_STATE_SUCCEEDED) << ended->DebugString();
    EXPECT_EQ(ended->inference(), GetParam().inference) << ended->DebugString();
  }

  client::Prediction PredictAt(int level) {
    const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(7, -0.1, 1.1);
    const auto p = client_->Predict(kModel, x, {.level = level, .quantiles = {0.05, 0.95}, .full_covariance = true});
    EXPECT_TRUE(p.ok()) << p.status();
    return p.ok() ? *p : client::Prediction();
  }

  Answers Ask() {
    Answers answers;
    if (!GetParam().highest_only) answers.low = PredictAt(0);
    answers.high = PredictAt(1);
    const auto design =
        client_->SampleDpp(kModel, {.k = 3, .candidate_count = 48, .quality_mode = v1::QUALITY_MODE_NONE, .seed = 5});
    EXPECT_TRUE(design.ok()) << design.status();
    if (design.ok()) answers.design = *design;
    return answers;
  }

  static constexpr char kModel[] = "wing";

  const TempDirectory directory_;
  std::unique_ptr<E2eServer> server_;
  std::unique_ptr<client::Client> client_;
};

void ExpectSameBits(const client::Prediction& a, const client::Prediction& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.variance, b.variance);
  EXPECT_EQ(a.quantiles, b.quantiles);
  EXPECT_EQ(a.covariance, b.covariance);
  EXPECT_EQ(a.revision, b.revision);
}

TEST_P(EveryKindTest, AnswersTheSameBitsAfterAKill) {
  Start();
  CreateAndObserve();
  Fit();
  if (HasFatalFailure()) return;
  const Answers before = Ask();
  ASSERT_EQ(before.high.mean.size(), 7);
  EXPECT_TRUE(before.high.mean.allFinite());
  EXPECT_GT(before.high.variance.minCoeff(), 0);
  ASSERT_EQ(before.design.indices.size(), 3u);
  EXPECT_LT(before.design.variance_after, before.design.variance_before);
  Kill();

  Start();
  if (HasFatalFailure()) return;
  const auto model = client_->GetModel(kModel);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->kind(), GetParam().kind);
  const Answers after = Ask();
  ExpectSameBits(after.low, before.low);
  ExpectSameBits(after.high, before.high);
  EXPECT_EQ(after.design.indices, before.design.indices);
  EXPECT_EQ(after.design.inputs, before.design.inputs);
  EXPECT_EQ(after.design.variance_after, before.design.variance_after);
}

// Those of the registry, which the program under test has, too.
std::vector<Way> Ways() {
  std::vector<Way> ways;
  for (const EmulatorMethod& method : EmulatorMethods()) {
    for (const MethodUse& use : method.uses) {
      ways.push_back({absl::StrCat(use.kind_name, "_BY_", use.inference_name), static_cast<v1::ModelKind>(use.kind),
                      static_cast<v1::Inference>(use.inference), use.highest_only});
    }
  }
  return ways;
}

INSTANTIATE_TEST_SUITE_P(Ways, EveryKindTest, ::testing::ValuesIn(Ways()),
                         [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace fidelio
