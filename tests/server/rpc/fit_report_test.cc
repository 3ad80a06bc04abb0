// Fit.sampling and Fit.warnings through a real channel.
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

// A server whose fits report these chains.
class FitReportTest : public ::testing::Test {
 protected:
  FitReportTest()
      : server_([this](Server::Options& options) {
          options.hooks.on_report = [this](FitReport& report) {
            report.chains = chains_.chains;
            report.draws = chains_.draws;
            report.acceptance = chains_.acceptance;
            report.r_hat = chains_.r_hat;
            report.effective_size = chains_.effective_size;
            report.moved_chains = chains_.moved_chains;
            report.failed_curvature = chains_.failed_curvature;
          };
        }) {
    server_.Create("wing");
    server_.Observe("wing");
  }

  v1::Fit Get(const std::string& name) {
    v1::GetFitRequest request;
    request.set_name(name);
    v1::Fit fit;
    TestContext context;
    EXPECT_TRUE(IsOk(server_.stub().GetFit(&context, request, &fit)));
    return fit;
  }

  v1::ListFitsResponse List() {
    v1::ListFitsRequest request;
    request.set_parent("models/wing");
    v1::ListFitsResponse response;
    TestContext context;
    EXPECT_TRUE(IsOk(server_.stub().ListFits(&context, request, &response)));
    return response;
  }

  FitReport chains_;  // set before a fit begins
  TestServer server_;
};

TEST_F(FitReportTest, TheReportOfSamplingIsInEveryResponse) {
  chains_ = {.acceptance = 0.75,
             .draws = 24,
             .chains = 4,
             .r_hat = 1.5,
             .effective_size = 42.5,
             .moved_chains = 1,
             .failed_curvature = 2};
  const v1::Fit watched = server_.FitAndWait("wing", 7);
  for (const v1::Fit& fit : {watched, Get(watched.name()), List().fits(0)}) {
    ASSERT_TRUE(fit.has_sampling());
    EXPECT_EQ(fit.sampling().chains(), 4);
    EXPECT_EQ(fit.sampling().draws(), 24);
    EXPECT_EQ(fit.sampling().acceptance(), 0.75);
    ASSERT_TRUE(fit.sampling().has_r_hat());
    EXPECT_EQ(fit.sampling().r_hat(), 1.5);
    EXPECT_EQ(fit.sampling().effective_size(), 42.5);
    EXPECT_EQ(fit.sampling().moved_chains(), 1);
    EXPECT_EQ(fit.sampling().failed_curvature(), 2);
    ASSERT_EQ(fit.warnings_size(), 2);
    EXPECT_TRUE(absl::StrContains(fit.warnings(0), "R̂ is 1.50")) << fit.warnings(0);
    EXPECT_TRUE(absl::StrContains(fit.warnings(1), "2 directions")) << fit.warnings(1);
  }
  v1::DiagnoseRequest request;
  request.set_model("models/wing");
  v1::DiagnoseResponse diagnosis;
  TestContext context;
  ASSERT_TRUE(IsOk(server_.stub().Diagnose(&context, request, &diagnosis)));
  int found = 0;
  for (const std::string& warning : diagnosis.verdict().warnings()) found += absl::StrContains(warning, "R̂ is 1.50");
  EXPECT_EQ(found, 1);
}

TEST_F(FitReportTest, UnknownRHatIsAbsent) {
  chains_ = {.draws = 8, .chains = 2};
  const v1::Fit fit = server_.FitAndWait("wing", 7);
  ASSERT_TRUE(fit.has_sampling());
  EXPECT_FALSE(fit.sampling().has_r_hat());
  EXPECT_EQ(fit.warnings_size(), 0);
}

TEST_F(FitReportTest, AFitWithoutChainsHasNoReportOfSamplingButItsWarnings) {
  chains_ = {.draws = 1, .failed_curvature = 1};
  const v1::Fit fit = server_.FitAndWait("wing", 7);
  EXPECT_FALSE(fit.has_sampling());
  ASSERT_EQ(fit.warnings_size(), 1);
  EXPECT_TRUE(absl::StrContains(fit.warnings(0), "1 direction,")) << fit.warnings(0);
}

}  // namespace
}  // namespace fidelio
