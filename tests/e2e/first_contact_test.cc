// What a new user does wrong, and how it is put right: the command fidelio against the program fidelio-server.
#include <signal.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/e2e_server.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

using Json = nlohmann::json;

// A pair of functions of two inputs: the cheap one is a tilted and shifted version of the expensive one.
double High(double x1, double x2) { return std::sin(5 * x1) + x2 * x2; }
double Low(double x1, double x2) { return 0.8 * High(x1, x2) + 0.3 * x1 - 0.2; }

class FirstContactTest : public ::testing::Test {
 protected:
  CommandResult Run(const std::string& words, const std::string& input = "") {
    std::vector<std::string> arguments = absl::StrSplit(words, ' ');
    arguments.insert(arguments.end(), {"--server", server().process().address()});
    return RunCommand(FIDELIO_BINARY, arguments, input);
  }
  std::string Ok(const std::string& words, const std::string& input = "") {
    const CommandResult result = Run(words, input);
    EXPECT_EQ(result.code, 0) << words << "\n" << result.output;
    return result.output;
  }
  // The document of a command that succeeded and printed nothing else.
  Json Document(const std::string& words) {
    const std::string text = Ok(absl::StrCat(words, " --json"));
    return Json::accept(text) ? Json::parse(text) : Json::object();
  }
  E2eServer& server() {
    if (server_ == nullptr) server_ = std::make_unique<E2eServer>(directory_ / "data", flags_);
    return *server_;
  }
  std::string Path(const std::string& name) const { return directory_ / name; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }
  std::string Read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }

  // A table of the CLI's design with its outputs filled in.
  std::string Simulated(const std::string& table) const {
    std::string filled;
    for (const absl::string_view line : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
      const std::vector<std::string> fields = absl::StrSplit(line, ',');
      if (fields[0] == "fidelity") {
        absl::StrAppend(&filled, line, "\n");
        continue;
      }
      const double x1 = std::stod(fields[1]), x2 = std::stod(fields[2]);
      absl::StrAppend(&filled, line, fields[0] == "high" ? High(x1, x2) : Low(x1, x2), "\n");
    }
    return filled;
  }

  // A model with an initial design, observed and fitted.
  void CreateDesignObserveFit(const std::string& counts) {
    Ok("model create wing --inputs 2 --fidelities low,high --costs 1,10 --lower 0,0 --upper 1,1");
    Ok(absl::StrCat("design wing --fidelity ", counts, " --seed 3 -o ", Path("runs.csv")));
    Write("runs.csv", Simulated(Read("runs.csv")));
    Ok("observe wing " + Path("runs.csv"));
    Fit();
    std::string grid = "x1,x2,y\n";
    for (int i = 0; i < 12; ++i) {
      for (int j = 0; j < 12; ++j) {
        const double x1 = (i + 0.5) / 12, x2 = (j + 0.5) / 12;
        absl::StrAppend(&grid, x1, ",", x2, ",", High(x1, x2), "\n");
      }
    }
    Write("grid.csv", grid);
  }
  void Fit() { Ok("fit wing --watch --budget-iterations 60"); }
  // Against the true function.
  double Rmse() {
    const Json scores = Document("score wing " + Path("grid.csv"));
    return scores.value("rmse", std::nan(""));
  }
  // Whether the report shows the verdict in green.
  bool ReportIsGreen() {
    Ok(absl::StrCat("report wing --runs 0 -o ", Path("wing.html")));
    const std::string page = Read("wing.html");
    EXPECT_TRUE(absl::StrContains(page, "class=\"verdict "));
    return absl::StrContains(page, "class=\"verdict good\"");
  }

  const TempDirectory directory_;
  std::vector<std::string> flags_ = {};
  std::unique_ptr<E2eServer> server_;
};

TEST_F(FirstContactTest, AWrongRowIsWithdrawnAndTheErrorFallsAgain) {
  CreateDesignObserveFit("low=24,high=12");
  const double before = Rmse();
  // A unit that was mistaken, twice: an output, and an input far outside the box.
  const std::string observed =
      Ok("observe wing -", "run_id,fidelity,x1,x2,y\ntypo,low,0.5,0.5,25\nunit,low,50,0.5,1\n");
  EXPECT_TRUE(absl::StrContains(observed,
                                "warning: 1 of 2 rows lies more than three box widths outside the model's "
                                "box (row 3)"))
      << observed;
  EXPECT_TRUE(absl::StrContains(observed, "`fidelio observations withdraw wing unit` removes it")) << observed;
  Fit();
  const double wrong = Rmse();
  EXPECT_GT(wrong, 2 * before);

  const std::string withdrawn = Ok("observations withdraw wing typo unit --reason mistyped");
  EXPECT_TRUE(
      absl::StrContains(withdrawn, "2 observations withdrawn from model wing, which now has 24 low and 12 high"))
      << withdrawn;
  EXPECT_TRUE(absl::StrContains(withdrawn, "fit again: revision 2 still knows 2 withdrawn observations")) << withdrawn;
  EXPECT_TRUE(absl::StrContains(Ok("model show wing"), "2, which still knows 2 withdrawn observations: fit again"));
  EXPECT_TRUE(absl::StrContains(Ok("revisions wing"), "WITHDRAWN"));
  // The served revision stays as it was until the next fit.
  EXPECT_EQ(Rmse(), wrong);
  EXPECT_FALSE(ReportIsGreen());
  Fit();
  EXPECT_LT(Rmse(), 1.2 * before);
  EXPECT_FALSE(absl::StrContains(Ok("model show wing"), "fit again"));

  // History stays readable, and what is in use does not show it.
  EXPECT_FALSE(absl::StrContains(Ok("observations list wing"), "typo"));
  const std::string history = Ok("observations list wing --withdrawn --csv");
  EXPECT_TRUE(absl::StrContains(history, "typo,low,0.5,0.5,25,,2,")) << history;
  EXPECT_TRUE(absl::StrContains(history, ",withdrawn,3,")) << history;
  EXPECT_TRUE(absl::StrContains(history, ",mistyped\n")) << history;
  const CommandResult again = Run("observations withdraw wing typo");
  EXPECT_EQ(again.code, 4);
  EXPECT_TRUE(absl::StrContains(again.output, "ID, entry 1: \"typo\" was withdrawn by data_version 3")) << again.output;
}

TEST_F(FirstContactTest, AWrongOutputIsCorrectedUnderItsId) {
  CreateDesignObserveFit("low=24,high=12");
  Ok("observe wing -", "run_id,fidelity,x1,x2,y\ntypo,high,0.5,0.5,25\n");
  // The same id with another output is a conflict, with the same one a replay.
  const CommandResult conflict = Run("observe wing -", "run_id,fidelity,x1,x2,y\ntypo,high,0.5,0.5,2.5\n");
  EXPECT_EQ(conflict.code, 5);
  EXPECT_TRUE(absl::StrContains(conflict.output, "row 2, column run_id: \"typo\"")) << conflict.output;
  EXPECT_TRUE(absl::StrContains(Ok("observe wing -", "run_id,fidelity,x1,x2,y\ntypo,high,0.5,0.5,25\n"),
                                "1 row was there already"));
  const std::string right = absl::StrCat(High(0.5, 0.5));
  EXPECT_TRUE(absl::StrContains(Ok(absl::StrCat("observations correct wing typo=", right, " --reason unit")),
                                "1 observation corrected in model wing, which now has 24 low and 13 high"));
  const std::string list = Ok("observations list wing --csv");
  EXPECT_TRUE(absl::StrContains(list, absl::StrCat("typo,high,0.5,0.5,", right, ","))) << list;
  EXPECT_TRUE(absl::StrContains(Ok("observations list wing --withdrawn --csv"), ",corrected,"));
}

TEST_F(FirstContactTest, AFileLoadedTwiceIsToldAndTakenBack) {
  CreateDesignObserveFit("low=24,high=12");
  const std::string doubled = Ok("observe wing " + Path("runs.csv"));
  EXPECT_TRUE(absl::StrContains(doubled,
                                "warning: 36 of 36 rows are exact copies of stored observations; remove them "
                                "with `fidelio observations withdraw wing --batch 2`"))
      << doubled;
  Fit();
  // Copies are left out together, and they do not count as observations of their own.
  const Json copies = Document("diagnose wing");
  ASSERT_EQ(copies["fidelities"].size(), 2u) << copies;
  EXPECT_EQ(copies["fidelities"][1]["count"], 24);
  EXPECT_EQ(copies["fidelities"][1]["distinct_count"], 12);
  EXPECT_FALSE(copies["verdict"]["warnings"].empty()) << copies["verdict"];
  EXPECT_FALSE(ReportIsGreen());

  Ok("observations withdraw wing --batch 2 --reason twice");
  const std::string skipped = Ok(absl::StrCat("observe wing ", Path("runs.csv"), " --skip-duplicates"));
  EXPECT_TRUE(absl::StrContains(skipped, "0 observations added to model wing, which now has 24 low and 12 high"))
      << skipped;
  EXPECT_TRUE(absl::StrContains(skipped, "36 of 36 rows are exact copies of stored observations and were left out"))
      << skipped;
}

TEST_F(FirstContactTest, FewObservationsAreNeverCalledCalibrated) {
  CreateDesignObserveFit("low=20,high=5");
  const Json diagnosis = Document("diagnose wing");
  EXPECT_EQ(diagnosis["verdict"]["kind"], "VERDICT_KIND_TOO_FEW") << diagnosis["verdict"];
  EXPECT_EQ(diagnosis["verdict"]["more_needed"], "5");
  EXPECT_TRUE(absl::StrContains(Ok("diagnose wing"), "\n\nToo few observations: "));
  EXPECT_FALSE(ReportIsGreen());
  // Loading the file again does not help.
  Ok("observe wing " + Path("runs.csv"));
  Fit();
  EXPECT_EQ(Document("diagnose wing")["verdict"]["kind"], "VERDICT_KIND_TOO_FEW");
}

TEST_F(FirstContactTest, AnEvenlySpacedDesignIsWarnedAbout) {
  Ok("model create wave --inputs 1 --fidelities low,high --lower 0 --upper 1");
  std::string runs = "fidelity,x1,y\n";
  for (int i = 0; i < 50; ++i) {
    const double x = std::fmod(0.5 + i * 0.618034, 1.0);
    absl::StrAppend(&runs, "low,", x, ",", std::sin(8 * M_PI * x), "\n");
  }
  for (int i = 0; i < 12; ++i) {
    const double x = 0.02 + i * 0.95 / 11;
    absl::StrAppend(&runs, "high,", x, ",", (x - std::sqrt(2.0)) * std::pow(std::sin(8 * M_PI * x), 2), "\n");
  }
  Write("runs.csv", runs);
  Ok("observe wave " + Path("runs.csv"));
  Ok("fit wave --watch --budget-iterations 60");
  const Json diagnosis = Document("diagnose wave");
  bool warned = false;
  for (const auto& warning : diagnosis["verdict"]["warnings"]) {
    warned = warned || absl::StrContains(warning.get<std::string>(), "space");
  }
  EXPECT_TRUE(warned) << diagnosis["verdict"];
  EXPECT_TRUE(absl::StrContains(Ok("diagnose wave"), "\nwarning: "));
  Ok(absl::StrCat("report wave --runs 0 -o ", Path("wave.html")));
  EXPECT_FALSE(absl::StrContains(Read("wave.html"), "class=\"verdict good\""));
}

TEST_F(FirstContactTest, ARemovedTokenNoLongerWorksAlsoWhenTheNewFileIsBroken) {
  const auto digest = [](const std::string& token) {
    return std::string(absl::StripAsciiWhitespace(RunServer({"--hash-token"}, token).output));
  };
  const std::string alice = "alice-0123456789-0123456789", bob = "bob-0123456789-0123456789-abc";
  const std::string alice_line = absl::StrCat("alice writer ", digest(alice), "\n");
  const std::string bob_line = absl::StrCat("bob writer ", digest(bob), "\n");
  Write("alice.token", alice);
  Write("bob.token", bob);
  Write("tokens", alice_line + bob_line);
  // Only SIGHUP makes it read the file again.
  flags_ = {"--tokens-file", Path("tokens"), "--tokens-reload-seconds", "86400"};
  const auto code = [&](const std::string& who) {
    return Run(absl::StrCat("model list --token-file ", Path(who + ".token"))).code;
  };
  // Signals are handled in their own time: asks until the answer is the expected one.
  const auto becomes = [&](const std::string& who, int expected) {
    for (int attempt = 0; attempt < 500; ++attempt) {
      if (code(who) == expected) return true;
    }
    return false;
  };
  EXPECT_EQ(code("alice"), 0);
  EXPECT_EQ(code("bob"), 0);
  Write("tokens", alice_line);
  server().process().Signal(SIGHUP);
  EXPECT_TRUE(becomes("bob", 7));
  EXPECT_EQ(code("alice"), 0);

  Write("tokens", alice_line + bob_line);
  server().process().Signal(SIGHUP);
  EXPECT_TRUE(becomes("bob", 0));
  // Alice is removed by an edit that also breaks a line: she is out, and Bob, whose line still stands, is not.
  Write("tokens", absl::StrCat("alicewriter\n", bob_line));
  server().process().Signal(SIGHUP);
  EXPECT_TRUE(becomes("alice", 7));
  EXPECT_EQ(code("bob"), 0);
}

}  // namespace
}  // namespace fidelio
