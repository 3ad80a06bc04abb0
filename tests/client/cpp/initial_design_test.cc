#include "client/cpp/client.h"
#include "client/cpp/matrix.h"
#include "gtest/gtest.h"
#include "tests/client/support/fake_emulator.h"
#include "tests/support/status.h"

namespace fidelio::client {
namespace {

TEST(InitialDesignTest, RunsComeBackByFidelity) {
  FakeServer server;
  v1::InitialDesignRequest seen;
  server.emulator().initial_design = [&](grpc::ServerContext&, const v1::InitialDesignRequest& request,
                                         v1::InitialDesignResponse& response) {
    seen = request;
    v1::FidelityInputs* design = response.add_designs();
    design->set_level(1);
    design->set_fidelity("fine");
    *design->mutable_inputs() = ToWire(Eigen::MatrixXd::Constant(2, 3, 0.5));
    response.set_total_cost(20);
    response.set_data_version(4);
    return grpc::Status::OK;
  };
  auto client = *Client::Connect({.channel = {.server = server.address()}});
  const auto runs = client->InitialDesign("wing", {.counts = {{.level = 1, .count = 2}},
                                                   .method = v1::INITIAL_DESIGN_METHOD_LATIN_HYPERCUBE,
                                                   .nested = true,
                                                   .pending = {{.level = 0, .inputs = Eigen::MatrixXd::Zero(1, 3)}},
                                                   .seed = 7});
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->designs.size(), 1u);
  EXPECT_EQ(runs->designs[0].level, 1);
  EXPECT_EQ(runs->designs[0].fidelity, "fine");
  EXPECT_EQ(runs->designs[0].inputs, Eigen::MatrixXd::Constant(2, 3, 0.5));
  EXPECT_EQ(runs->total_cost, 20);
  EXPECT_EQ(runs->data_version, 4);
  EXPECT_EQ(seen.model(), "models/wing");
  EXPECT_EQ(seen.counts(0).level(), 1u);
  EXPECT_EQ(seen.counts(0).count(), 2u);
  EXPECT_EQ(seen.method(), v1::INITIAL_DESIGN_METHOD_LATIN_HYPERCUBE);
  EXPECT_TRUE(seen.nested());
  EXPECT_EQ(seen.seed(), 7u);
  ASSERT_EQ(seen.pending_size(), 1);
  EXPECT_EQ(*FromWire(seen.pending(0).inputs(), ""), Eigen::MatrixXd::Zero(1, 3));
}

}  // namespace
}  // namespace fidelio::client
