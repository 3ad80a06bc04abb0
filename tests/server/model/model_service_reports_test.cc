// Reports of fits: kept with the fit and with its revisions, and part of the verdict.
#include <algorithm>
#include <string>
#include <vector>

#include "core/emulator/fit_warnings.h"
#include "tests/server/model/service_testing.h"

namespace fidelio {
namespace {

// What fits of these servers report about their chains.
FitReport PoorChains() {
  FitReport report;
  report.draws = 32;
  report.chains = 4;
  report.r_hat = 1.75;
  report.effective_size = 6.5;
  report.failed_curvature = 2;
  return report;
}

ModelServiceOptions Poor() {
  ModelServiceOptions options;
  options.hooks.on_report = [](FitReport& report) {
    const FitReport poor = PoorChains();
    report.draws = poor.draws;
    report.chains = poor.chains;
    report.r_hat = poor.r_hat;
    report.effective_size = poor.effective_size;
    report.failed_curvature = poor.failed_curvature;
  };
  return options;
}

void ExpectPoor(const std::optional<FitReport>& report) {
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->chains, 4);
  EXPECT_EQ(report->r_hat, 1.75);
  EXPECT_EQ(report->effective_size, 6.5);
  EXPECT_EQ(report->failed_curvature, 2);
  EXPECT_GT(report->evaluations, 0);  // of the fit itself
}

// How many of the fit's warnings the diagnosis of a revision repeats.
size_t WarningsOfFit(ModelService& service, const std::string& model, int64_t revision = 0) {
  const auto loaded = service.AcquireRevision(model, revision);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  if (!loaded.ok()) return 0;
  const auto diagnosis = service.Diagnose(**loaded, GoOn);
  EXPECT_TRUE(diagnosis.ok()) << diagnosis.status();
  if (!diagnosis.ok()) return 0;
  size_t found = 0;
  for (const std::string& warning : FitWarnings(PoorChains())) {
    const std::vector<std::string>& all = diagnosis->verdict.warnings;
    found += static_cast<size_t>(std::count(all.begin(), all.end(), warning));
  }
  return found;
}

class ReportsTest : public ::testing::Test {
 protected:
  TempDirectory directory_, other_;
};

TEST_F(ReportsTest, TheReportOfAFitIsKeptWithItAndSurvivesARestart) {
  {
    Server server(directory_.path(), Poor());
    MakeModel(server.service(), "wing");
    ExpectPoor(RunFit(server.service(), "wing").report);  // as a watch sees it
    ExpectPoor(server->GetFit("wing", 1)->report);
  }
  Server server(directory_.path());
  ExpectPoor(server->GetFit("wing", 1)->report);
  ExpectPoor(server->ListFits("wing", 0, 10)->fits.at(0).report);
  ExpectPoor(server->GetRevision("wing", 1)->report);
}

TEST_F(ReportsTest, AFitThatWasCancelledOrIsOnlyValidatedHasNoReport) {
  Gate gate;
  ModelServiceOptions options = Poor();
  options.hooks.on_iteration = [&](const std::string&, int64_t, const FitProgress&) { gate.Pass(); };
  Server server(directory_.path(), options);
  MakeModel(server.service(), "wing");
  const auto validated = server->StartFit(Request(), "wing", "", {}, /*validate_only=*/true);
  ASSERT_TRUE(validated.ok()) << validated.status();
  EXPECT_FALSE(validated->report.has_value());
  const auto fit = server->StartFit(Request(), "wing", "", {});
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_FALSE(fit->report.has_value());
  gate.AwaitArrivals(1);
  ASSERT_TRUE(server->CancelFit(Request(), "wing", fit->id).ok());
  gate.Open();
  EXPECT_FALSE(AwaitFit(server.service(), "wing", fit->id).report.has_value());
}

TEST_F(ReportsTest, ACancellationTooLateReturnsTheReportEachTime) {
  Server server(directory_.path(), Poor());
  MakeModel(server.service(), "wing");
  RunFit(server.service(), "wing");
  for (int i = 0; i < 2; ++i) ExpectPoor(server->CancelFit(Request("late", "body"), "wing", 1)->report);
}

TEST_F(ReportsTest, TheVerdictRepeatsTheWarningsOfTheFit) {
  {
    Server server(directory_.path(), Poor());
    MakeModel(server.service(), "wing");
    RunFit(server.service(), "wing");
    EXPECT_EQ(WarningsOfFit(server.service(), "wing"), 3u);
  }
  Server server(directory_.path());
  EXPECT_EQ(WarningsOfFit(server.service(), "wing"), 3u);
}

TEST_F(ReportsTest, ConditionedAndImportedRevisionsKeepTheReportOfTheirFit) {
  Server server(directory_.path(), Poor()), other(other_.path());
  MakeModel(server.service(), "wing");
  RunFit(server.service(), "wing");
  const auto added =
      server->AddObservations(Request(), "wing", "", {Batches({0, 3}, 1, 50).back()}, ObservationUpdate::kCondition);
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(WarningsOfFit(server.service(), "wing", added->revision), 3u);
  const auto imported = ImportBytes(other.service(), ExportBytes(server.service(), "wing"));
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(WarningsOfFit(other.service(), "wing"), 3u);
  EXPECT_EQ(other->ListFits("wing", 0, 10)->fits.size(), 0u);  // fits stay behind
}

}  // namespace
}  // namespace fidelio
