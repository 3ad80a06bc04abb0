// The loop that Fidelio is for, by a client of the program fidelio-server: observe, fit, ask where to observe next.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/client.h"
#include "gtest/gtest.h"
#include "tests/e2e/e2e_server.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

// The function of Forrester et al. (2008) and its cheap version.
double Simulate(int level, double x) {
  const double fine = std::pow(6 * x - 2, 2) * std::sin(12 * x - 4);
  return level == 1 ? fine : 0.5 * fine + 10 * (x - 0.5) - 5;
}

class DesignLoopTest : public ::testing::Test {
 protected:
  DesignLoopTest() : server_(directory_ / "data") {
    auto client =
        client::Client::Connect({.channel = {.server = server_.process().address()}, .timeout = absl::Minutes(2)});
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  void Create() {
    v1::Model model;
    model.set_input_dimension(1);
    model.mutable_input_box()->add_lower(0);
    model.mutable_input_box()->add_upper(1);
    for (const auto& [name, cost] : {std::pair("coarse", 1.0), std::pair("fine", 10.0)}) {
      v1::Fidelity* fidelity = model.add_fidelities();
      fidelity->set_name(name);
      fidelity->set_cost(cost);
    }
    const auto created = client_->CreateModel("forrester", model);
    ASSERT_TRUE(created.ok()) << created.status();
  }

  void Observe(int level, const Eigen::VectorXd& x) {
    client::Observations batch{.level = level, .inputs = x};
    batch.outputs = x.unaryExpr([level](double input) { return Simulate(level, input); });
    const auto added = client_->AddObservations("forrester", {batch});
    ASSERT_TRUE(added.ok()) << added.status();
    data_version_ = added->data_version;
  }

  void Fit() {
    const auto fit = client_->Fit("forrester", {});
    ASSERT_TRUE(fit.ok()) << fit.status();
    const auto ended = client_->WatchFit(fit->name(), nullptr);
    ASSERT_TRUE(ended.ok()) << ended.status();
    ASSERT_EQ(ended->state(), v1::FIT_STATE_SUCCEEDED) << ended->DebugString();
  }

  // Of the mean of the fine simulator, over its inputs.
  double Rmse() {
    const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(101, 0, 1);
    const auto p = client_->Predict("forrester", x, {.min_data_version = data_version_});
    EXPECT_TRUE(p.ok()) << p.status();
    const Eigen::VectorXd truth = x.unaryExpr([](double input) { return Simulate(1, input); });
    return p.ok() ? std::sqrt((p->mean - truth).squaredNorm() / 101) : NAN;
  }

  const TempDirectory directory_;
  E2eServer server_;
  std::unique_ptr<client::Client> client_;
  int64_t data_version_ = 0;
};

TEST_F(DesignLoopTest, EveryRoundOfDesignsLowersTheError) {
  Create();
  Observe(0, Eigen::VectorXd::LinSpaced(5, 0, 1));
  Observe(1, Eigen::Vector2d(0.1, 0.6));
  Fit();
  const double start = Rmse();

  const auto design = client_->SampleDpp("forrester", {.k = 3,
                                                       .candidate_count = 128,
                                                       .quality_mode = v1::QUALITY_MODE_NONE,
                                                       .exclude_observed = true,
                                                       .min_data_version = data_version_});
  ASSERT_TRUE(design.ok()) << design.status();
  ASSERT_EQ(design->inputs.rows(), 3);
  EXPECT_LT(design->variance_after, design->variance_before);
  Observe(1, design->inputs.col(0));
  Fit();
  const double designed = Rmse();
  EXPECT_LT(designed, start);

  const auto next = client_->Suggest(
      "forrester",
      {.count = 6, .budget = 35, .candidate_count = 128, .target_count = 64, .min_data_version = data_version_});
  ASSERT_TRUE(next.ok()) << next.status();
  ASSERT_FALSE(next->runs.empty());
  EXPECT_LE(next->total_cost, 35);
  EXPECT_LT(next->variance_after, next->variance_before);
  for (const client::Suggestion& run : next->runs) Observe(run.level, run.input);
  Fit();
  const double suggested = Rmse();
  EXPECT_LT(suggested, designed);

  const auto trust = client_->Diagnose("forrester", {.min_data_version = data_version_});
  ASSERT_TRUE(trust.ok()) << trust.status();
  ASSERT_EQ(trust->fidelities.size(), 2u);
  int64_t count = 0;
  for (const client::FidelityDiagnostics& fidelity : trust->fidelities) {
    count += fidelity.count;
    EXPECT_EQ(fidelity.residuals.size(), fidelity.count);
  }
  EXPECT_EQ(count, 5 + 2 + 3 + static_cast<int64_t>(next->runs.size()));
  RecordProperty("rmse", std::to_string(start) + " " + std::to_string(designed) + " " + std::to_string(suggested));
}

}  // namespace
}  // namespace fidelio
