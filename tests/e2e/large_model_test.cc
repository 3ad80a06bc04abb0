// A model with neighbour layers through the program fidelio-server: 50,000 observations of the lowest fidelity, a middle one that is
// large, too, a kill while the fit runs, and observations that are taken into account without another fit.
#include <signal.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/cpp/client.h"
#include "gtest/gtest.h"
#include "tests/e2e/e2e_server.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

constexpr int kCounts[] = {50'000, 2'500, 40};

double Truth(int level, double x1, double x2) {
  const double low = std::sin(9 * x1) * std::cos(7 * x2) + x1;
  if (level == 0) return low;
  const double middle = 1.2 * low + 0.2 * low * low - 0.3 * x2;
  return level == 1 ? middle : 0.9 * middle + 0.2 * std::sin(3 * x1);
}

// Quasi-random points of the unit square, others for every `first`.
Eigen::MatrixXd Points(int first, int count) {
  Eigen::MatrixXd x(count, 2);
  for (int i = 0; i < count; ++i) {
    for (int d = 0; d < 2; ++d) {
      const double at = (first + i) * (d == 0 ? 0.7548776662466927 : 0.5698402909980532);
      x(i, d) = at - std::floor(at);
    }
  }
  return x;
}

client::Observations Batch(int level, const Eigen::MatrixXd& x) {
  client::Observations batch{.level = level, .inputs = x};
  batch.outputs.resize(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) batch.outputs[i] = Truth(level, x(i, 0), x(i, 1));
  return batch;
}

std::unique_ptr<client::Client> ConnectTo(E2eServer& server) {
  auto client =
      client::Client::Connect({.channel = {.server = server.process().address()}, .timeout = absl::Minutes(5)});
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

void CreateLarge(client::Client& client, const std::string& name) {
  v1::Model model;
  model.set_input_dimension(2);
  for (const char* fidelity : {"low", "middle", "high"}) model.add_fidelities()->set_name(fidelity);
  ASSERT_TRUE(client.CreateModel(name, model).ok());
  for (int level = 0; level < 3; ++level) {
    const auto added = client.AddObservations(name, {Batch(level, Points(1000 * level, kCounts[level]))});
    ASSERT_TRUE(added.ok()) << added.status();
  }
}

std::string StartLargeFit(client::Client& client, const std::string& name) {
  v1::FitOptions options;
  options.set_seed(3);
  options.set_kernel_family(v1::KERNEL_FAMILY_MATERN_5_2);
  const auto fit = client.Fit(name, options);
  EXPECT_TRUE(fit.ok()) << fit.status();
  return fit->name();
}

double RootMeanSquare(const Eigen::VectorXd& errors) { return std::sqrt(errors.array().square().mean()); }

TEST(LargeModelTest, AFitThatAKillInterruptsEndsAsOneThatRanThroughAndTakesNewObservations) {
  const TempDirectory directory;
  const Eigen::MatrixXd queries = Points(777'777, 200);
  client::Prediction steady;
  std::string fit_name;
  {
    E2eServer server(directory / "data", {"--checkpoint-seconds", "0.05"});
    const auto client = ConnectTo(server);
    CreateLarge(*client, "steady");
    CreateLarge(*client, "killed");
    const auto ended = client->WatchFit(StartLargeFit(*client, "steady"), nullptr);
    ASSERT_TRUE(ended.ok()) << ended.status();
    ASSERT_EQ(ended->state(), v1::FIT_STATE_SUCCEEDED) << ended->DebugString();
    EXPECT_EQ(ended->inference(), v1::INFERENCE_NEIGHBOURS) << ended->inference_reason();
    const auto prediction = client->Predict("steady", queries, {});
    ASSERT_TRUE(prediction.ok()) << prediction.status();
    steady = *prediction;
    fit_name = StartLargeFit(*client, "killed");
    v1::WatchFitRequest request;
    request.set_name(fit_name);
    Context context;
    const auto reader = server.stub().WatchFit(&context, request);
    v1::WatchFitResponse event;
    while (reader->Read(&event) && event.fit().progress().iteration() < 25) {
    }
    EXPECT_EQ(event.fit().state(), v1::FIT_STATE_RUNNING) << "the kill came too late";
    server.process().Signal(SIGKILL);
    server.process().Wait();
  }
  E2eServer server(directory / "data");
  const auto client = ConnectTo(server);
  const auto ended = client->WatchFit(fit_name, nullptr);
  ASSERT_TRUE(ended.ok()) << ended.status();
  ASSERT_EQ(ended->state(), v1::FIT_STATE_SUCCEEDED) << ended->DebugString();
  const auto killed = client->Predict("killed", queries, {});
  ASSERT_TRUE(killed.ok()) << killed.status();
  EXPECT_EQ(killed->mean, steady.mean);
  EXPECT_EQ(killed->variance, steady.variance);
  const Eigen::VectorXd truth = Batch(2, queries).outputs;
  EXPECT_LT(RootMeanSquare(killed->mean - truth), 0.05);

  const Eigen::MatrixXd more = queries.topRows(5);
  const auto added = client->AddObservations("killed", {Batch(1, more), Batch(2, more)},
                                             client::AddOptions{.update = client::ObservationUpdate::kCondition});
  ASSERT_TRUE(added.ok()) << added.status();
  const auto after = client->Predict("killed", more, {});
  ASSERT_TRUE(after.ok()) << after.status();
  for (int i = 0; i < 5; ++i) EXPECT_LT(after->variance[i], killed->variance[i]) << i;
  EXPECT_LE(RootMeanSquare(after->mean - truth.head(5)), RootMeanSquare(killed->mean.head(5) - truth.head(5)));
}

}  // namespace
}  // namespace fidelio
