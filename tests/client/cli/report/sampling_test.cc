#include "client/cli/report/figures.h"
#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

constexpr char kDisagree[] = "R̂ is 1.50 & too large.";

ReportData SampledReport(double r_hat) {
  ReportData data;
  v1::Fit fit;
  fit.mutable_sampling()->set_chains(4);
  fit.mutable_sampling()->set_draws(24);
  fit.mutable_sampling()->set_r_hat(r_hat);
  fit.mutable_sampling()->set_effective_size(42.4);
  data.fit = fit;
  return data;
}

bool Contains(const std::string& html, const std::string& part) { return html.find(part) != std::string::npos; }

TEST(SamplingTextTest, ThePageSaysHowWellTheChainsMixed) {
  const std::string good = SamplingText(SampledReport(1.02));
  EXPECT_TRUE(Contains(good, "4 chains")) << good;
  EXPECT_TRUE(Contains(good, "24 draws")) << good;
  EXPECT_TRUE(Contains(good, "R̂ is <b>1.020</b>: the chains agree")) << good;
  EXPECT_TRUE(Contains(good, "<b>42</b>")) << good;
  EXPECT_FALSE(Contains(good, "Warning"));
  EXPECT_TRUE(Contains(SamplingText(SampledReport(1.5)), "R̂ is <b>1.500</b>: the chains disagree"));
}

TEST(SamplingTextTest, WarningsOfTheFitAreShownUnlessTheVerdictHasThem) {
  ReportData data = SampledReport(1.5);
  data.fit->add_warnings(kDisagree);
  EXPECT_TRUE(Contains(SamplingText(data), "<b>Warning</b> R̂ is 1.50 &amp; too large.</p>"));
  client::Diagnostics diagnostics;
  diagnostics.verdict.emplace().add_warnings(kDisagree);
  data.diagnostics = diagnostics;
  EXPECT_FALSE(Contains(SamplingText(data), "Warning"));
}

TEST(SamplingTextTest, UnknownRHatIsSaidToBeUnknown) {
  ReportData data = SampledReport(1);
  data.fit->mutable_sampling()->clear_r_hat();
  EXPECT_TRUE(Contains(SamplingText(data), "R̂ is not known"));
}

TEST(SamplingTextTest, AFitThatDidNotSampleOrIsNotHereSaysNothing) {
  ReportData data;
  EXPECT_EQ(SamplingText(data), "");
  data.fit = v1::Fit();
  EXPECT_EQ(SamplingText(data), "");
}

}  // namespace
}  // namespace fidelio::cli
