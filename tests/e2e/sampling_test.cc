// A fit by MOMENTS through the program fidelio-server reports how well its hyperparameters were sampled.
#include <string>
#include <vector>

#include "client/cpp/client.h"
#include "gtest/gtest.h"
#include "tests/e2e/e2e_server.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

TEST(SamplingTest, AFitByMomentsReportsChainsRHatAndEffectiveSize) {
  const TempDirectory directory;
  E2eServer server(directory / "data");
  const auto client =
      client::Client::Connect({.channel = {.server = server.process().address()}, .timeout = absl::Minutes(2)});
  ASSERT_TRUE(client.ok()) << client.status();
  v1::Model model;
  model.set_input_dimension(1);
  model.add_fidelities()->set_name("coarse");
  model.add_fidelities()->set_name("fine");
  ASSERT_TRUE((*client)->CreateModel("wave", model).ok());
  std::vector<client::Observations> batches;
  for (const int n : {12, 6}) {
    client::Observations batch{.level = n == 12 ? 0 : 1, .inputs = Eigen::VectorXd::LinSpaced(n, 0, 1)};
    batch.outputs = (6 * batch.inputs.col(0).array()).sin() * (n == 12 ? 1 : 2);
    batches.push_back(batch);
  }
  ASSERT_TRUE((*client)->AddObservations("wave", batches).ok());
  v1::FitOptions options;
  options.set_inference(v1::INFERENCE_MOMENTS);
  const auto fit = (*client)->Fit("wave", options);
  ASSERT_TRUE(fit.ok()) << fit.status();
  const auto ended = (*client)->WatchFit(fit->name(), [](const v1::Fit&) {});
  ASSERT_TRUE(ended.ok()) << ended.status();
  ASSERT_EQ(ended->state(), v1::FIT_STATE_SUCCEEDED);
  ASSERT_TRUE(ended->has_sampling());
  EXPECT_GE(ended->sampling().chains(), 2);
  EXPECT_GE(ended->sampling().draws(), 1);
  EXPECT_GT(ended->sampling().acceptance(), 0);
  ASSERT_TRUE(ended->sampling().has_r_hat());
  EXPECT_GE(ended->sampling().r_hat(), 0.9);
  EXPECT_GT(ended->sampling().effective_size(), 0);
  const auto read = (*client)->GetFit(fit->name());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->sampling().SerializeAsString(), ended->sampling().SerializeAsString());
  EXPECT_EQ(read->warnings_size(), ended->warnings_size());
}

}  // namespace
}  // namespace fidelio
