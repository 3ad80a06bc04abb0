#include "client/cli/verdict.h"

#include "client/cli/json.h"
#include "tests/client/cli/cli_testing.h"

namespace fidelio::cli {
namespace {

v1::Verdict MakeVerdict(v1::VerdictKind kind, const std::vector<std::string>& warnings = {}) {
  v1::Verdict verdict;
  verdict.set_kind(kind);
  verdict.set_text("19 of 20 lie in the 95 % intervals.");
  for (const std::string& warning : warnings) verdict.add_warnings(warning);
  return verdict;
}

TEST(VerdictTest, OnlyIntervalsThatHoldWithoutAWarningAreGood) {
  EXPECT_EQ(ToneOf(MakeVerdict(v1::VERDICT_KIND_CALIBRATED)), VerdictTone::kGood);
  EXPECT_EQ(ToneOf(MakeVerdict(v1::VERDICT_KIND_CAUTIOUS)), VerdictTone::kGood);
  EXPECT_EQ(ToneOf(MakeVerdict(v1::VERDICT_KIND_TOO_FEW)), VerdictTone::kNeutral);
  EXPECT_EQ(ToneOf(MakeVerdict(v1::VERDICT_KIND_UNINFORMATIVE)), VerdictTone::kNeutral);
  EXPECT_EQ(ToneOf(MakeVerdict(v1::VERDICT_KIND_OVERCONFIDENT)), VerdictTone::kBad);
  EXPECT_EQ(ToneOf(MakeVerdict(static_cast<v1::VerdictKind>(99))), VerdictTone::kNeutral);
  EXPECT_EQ(ToneOf(MakeVerdict(v1::VERDICT_KIND_CALIBRATED, {"copies"})), VerdictTone::kNeutral);
  EXPECT_EQ(ToneOf(MakeVerdict(v1::VERDICT_KIND_CAUTIOUS, {"copies"})), VerdictTone::kNeutral);
  EXPECT_EQ(ToneOf(MakeVerdict(v1::VERDICT_KIND_OVERCONFIDENT, {"copies"})), VerdictTone::kBad);
}

TEST(VerdictTest, TheTextHasTheWarnings) {
  EXPECT_EQ(VerdictText(MakeVerdict(v1::VERDICT_KIND_CALIBRATED, {"evenly spaced", "copies"})),
            "Calibrated: 19 of 20 lie in the 95 % intervals.\nwarning: evenly spaced\nwarning: copies");
  EXPECT_EQ(VerdictText({}), "This server gives no verdict; a newer one does.");
}

TEST_F(CliTest, DiagnoseShowsTheServersVerdictUnderTheTable) {
  bool old = false;
  server_.emulator().diagnose = [&](grpc::ServerContext&, const v1::DiagnoseRequest&, v1::DiagnoseResponse& response) {
    response.add_fidelities()->set_fidelity("high");
    if (!old) *response.mutable_verdict() = MakeVerdict(v1::VERDICT_KIND_TOO_FEW, {"copies"});
    response.set_withdrawn_count(2);
    return grpc::Status::OK;
  };
  const Result result = Run({"diagnose", "wing"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("\n\nToo few observations: 19 of 20 lie in the 95 % intervals.\nwarning: copies\n"),
            std::string::npos)
      << result.out;
  const Json json = Json::parse(Run({"diagnose", "wing", "--json"}).out);
  EXPECT_EQ(json["verdict"]["kind"], "VERDICT_KIND_TOO_FEW");
  EXPECT_EQ(json["verdict"]["warnings"], Json({"copies"}));
  EXPECT_EQ(json["withdrawn_count"], 2);
  old = true;
  EXPECT_NE(Run({"diagnose", "wing"}).out.find("This server gives no verdict"), std::string::npos);
  EXPECT_EQ(Json::parse(Run({"diagnose", "wing", "--json"}).out)["verdict"], Json());
}

TEST_F(CliTest, SuggestSaysWhyThereAreFewerRunsThanAskedFor) {
  int runs = 0;
  server_.emulator().suggest = [&](grpc::ServerContext&, const v1::SuggestRequest&, v1::SuggestResponse& response) {
    for (int i = 0; i < runs; ++i) {
      v1::Suggestion* run = response.add_suggestions();
      run->add_input(1);
      run->add_input(2);
      run->set_fidelity("low");
    }
    response.set_shortfall_reason("the budget of 0.1 is below the cost of every fidelity; the cheapest is low with 1");
    return grpc::Status::OK;
  };
  const Result none = Run({"suggest", "wing", "--budget", "0.1"});
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.err, "no run: the budget of 0.1 is below the cost of every fidelity; the cheapest is low with 1\n");
  runs = 1;
  const Result one = Run({"suggest", "wing", "--count", "4"});
  EXPECT_NE(one.err.find("\nfewer than 4: the budget of 0.1"), std::string::npos) << one.err;
  EXPECT_NE(std::string(Json::parse(Run({"suggest", "wing", "--json"}).out)["shortfall_reason"]).find("0.1"),
            std::string::npos);
}

}  // namespace
}  // namespace fidelio::cli
