#include "core/emulator/fit_warnings.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace fidelio {
namespace {

FitReport MixedReport() {
  FitReport report;
  report.draws = 32;
  report.chains = 4;
  report.r_hat = 1.02;
  report.effective_size = 85;
  return report;
}

// That there is one warning, with these parts.
void ExpectOne(const FitReport& report, const std::vector<std::string>& parts) {
  const std::vector<std::string> warnings = FitWarnings(report);
  ASSERT_EQ(warnings.size(), 1u);
  for (const std::string& part : parts)
    EXPECT_TRUE(absl::StrContains(warnings[0], part)) << part << ": " << warnings[0];
}

TEST(FitWarningsTest, ChainsThatAgreeAreNotWarnedAbout) {
  EXPECT_TRUE(FitWarnings(MixedReport()).empty());
  FitReport edge = MixedReport();
  edge.r_hat = kMostRHat;
  edge.effective_size = kLeastEffectiveSize;
  edge.moved_chains = 1;  // counted where it went
  EXPECT_TRUE(FitWarnings(edge).empty());
}

TEST(FitWarningsTest, ChainsThatDisagreeAreWarnedAboutWithTheirRHat) {
  FitReport report = MixedReport();
  report.r_hat = 1.234;
  ExpectOne(report, {"R̂ is 1.23,", "at most 1.1", "another seed", "observations"});
}

TEST(FitWarningsTest, AnRHatJustAboveTheLimitIsNotRoundedToIt) {
  FitReport report = MixedReport();
  report.r_hat = 1.1004;
  ExpectOne(report, {"R̂ is 1.101,"});
}

TEST(FitWarningsTest, ChainsThatNeverMovedAreWarnedAboutWithoutAnInfiniteNumber) {
  FitReport report = MixedReport();
  report.r_hat = std::numeric_limits<double>::infinity();
  ExpectOne(report, {"R̂ is 100 or more,"});
}

TEST(FitWarningsTest, FewIndependentDrawsAreWarnedAbout) {
  FitReport report = MixedReport();
  report.effective_size = 3.48;
  ExpectOne(report, {"effective sample size is 3.4,", "at least 10"});
  report.effective_size = 9.99;
  ExpectOne(report, {"effective sample size is 9.9,"});
}

TEST(FitWarningsTest, UnknownIsNotAWarning) {
  FitReport report = MixedReport();
  report.r_hat = 0;
  report.effective_size = 0;
  EXPECT_TRUE(FitWarnings(report).empty());
  EXPECT_TRUE(FitWarnings(FitReport()).empty());
}

TEST(FitWarningsTest, AMethodThatDoesNotSampleHasNoChainsToWarnAbout) {
  FitReport report;
  report.r_hat = 2;
  report.effective_size = 1;
  EXPECT_TRUE(FitWarnings(report).empty());
}

TEST(FitWarningsTest, FailedCurvatureIsReportedWithAndWithoutChains) {
  FitReport report;
  report.failed_curvature = 1;
  ExpectOne(report, {"in 1 direction,"});
  report = MixedReport();
  report.failed_curvature = 3;
  ExpectOne(report, {"in 3 directions,", "prior"});
  report.r_hat = 1.5;
  report.effective_size = 2;
  EXPECT_EQ(FitWarnings(report).size(), 3u);
}

}  // namespace
}  // namespace fidelio
