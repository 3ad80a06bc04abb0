// The command fidelio against the program fidelio-server, as a user meets both.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/e2e/e2e_server.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

class CliTest : public ::testing::Test {
 protected:
  CliTest() : server_(directory_ / "data") {}

  CommandResult Run(const std::string& words, const std::string& input = "") {
    std::vector<std::string> arguments = absl::StrSplit(words, ' ');
    arguments.insert(arguments.end(), {"--server", server_.process().address()});
    return RunCommand(FIDELIO_BINARY, arguments, input);
  }
  std::string Ok(const std::string& words, const std::string& input = "") {
    const CommandResult result = Run(words, input);
    EXPECT_EQ(result.code, 0) << words << "\n" << result.output;
    return result.output;
  }
  std::string Path(const std::string& name) const { return directory_ / name; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }
  std::string Read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }

  // 12 cheap and 5 expensive observations of a line and its double.
  void CreateAndFit() {
    Ok("model create wing --inputs 1 --fidelities low,high --costs 1,10 --lower 0 --upper 1");
    std::string runs = "fidelity,x1,y\n";
    for (int i = 0; i <= 11; ++i) absl::StrAppend(&runs, "low,", i / 11.0, ",", i / 11.0 * (i / 11.0), "\n");
    for (int i = 0; i <= 4; ++i) absl::StrAppend(&runs, "high,", i / 4.0, ",", 2 * i / 4.0 * (i / 4.0), "\n");
    Write("runs.csv", runs);
    Ok("observe wing " + Path("runs.csv"));
    Ok("fit wing --watch --budget-iterations 40");
  }

  const TempDirectory directory_;
  E2eServer server_;
};

TEST_F(CliTest, AModelGoesThroughItsWholeLife) {
  CreateAndFit();
  EXPECT_TRUE(absl::StrContains(Ok("model update wing --costs 1,25 --description lines"), "cost 25"));
  EXPECT_TRUE(absl::StrContains(Ok("fits wing 1 --json"), "\"history\""));
  EXPECT_TRUE(absl::StrContains(Ok("diagnose wing"), "high"));

  const std::string points = "x1\n0.1\n0.7\n";
  const std::string predicted = Ok("predict wing - --quantiles 0.025,0.975", points);
  Ok(absl::StrCat("model export wing -o ", Path("wing.fidelio"), " --all-revisions"));
  Ok(absl::StrCat("model import ", Path("wing.fidelio"), " --name copy"));
  EXPECT_EQ(Ok("predict copy - --quantiles 0.025,0.975", points), predicted);

  Ok("observe wing - --level high --condition", "x1,y\n0.3,0.18\n");
  EXPECT_NE(Ok("predict wing - --quantiles 0.025,0.975", points), predicted);
  EXPECT_EQ(Ok("rollback wing 1"), "model wing serves revision 1 now\n");
  EXPECT_EQ(Ok("predict wing - --quantiles 0.025,0.975", points), predicted);

  Ok(absl::StrCat("report wing -o ", Path("wing.html"), " --runs 2"));
  const std::string page = Read("wing.html");
  for (const char* part : {"<h2>The function", "How the fidelities relate", "Can it be trusted?", "Fit history",
                           "suggested runs", "lines"}) {
    EXPECT_TRUE(absl::StrContains(page, part)) << part;
  }
  EXPECT_FALSE(absl::StrContains(page, "class=\"missing\"")) << page;
  Ok("model delete wing --yes");
  EXPECT_EQ(Run("model show wing").code, 4);
}

TEST_F(CliTest, LongFilesAreObservedInPartsAndPredictedInAStream) {
  CreateAndFit();
  std::string runs = "x1,y\n", points = "x1\n";
  constexpr int kRows = 30'000;
  for (int i = 0; i < kRows; ++i) {
    absl::StrAppend(&runs, i / 1e5, ",", i, "\n");
    absl::StrAppend(&points, i / 3e4, "\n");
  }
  Write("many.csv", runs);
  Write("points.csv", points);
  const std::string observe =
      absl::StrCat("observe wing ", Path("many.csv"), " --level low --chunk-rows 8000 --request-id a");
  EXPECT_TRUE(absl::StrContains(Ok(observe), "30012 low and 5 high (data version 5)"));
  // The same again adds nothing.
  EXPECT_TRUE(absl::StrContains(Ok(observe), "30012 low and 5 high (data version 5)"));

  Ok(absl::StrCat("predict wing ", Path("points.csv"), " -o ", Path("all.csv")));
  const std::vector<std::string> lines = absl::StrSplit(Read("all.csv"), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), kRows + 1u);
  // The stream answers what one call does, but for rounding.
  const auto numbers = [](const std::string& line) { return std::vector<std::string>(absl::StrSplit(line, ',')); };
  const std::vector<std::string> one = absl::StrSplit(Ok("predict wing -", "x1\n0.5\n"), '\n', absl::SkipEmpty());
  ASSERT_EQ(one.size(), 2u);
  EXPECT_EQ(one[0], lines[0]);
  EXPECT_EQ(numbers(lines[15'001])[0], "0.5");
  EXPECT_NEAR(std::stod(numbers(one[1])[1]), std::stod(numbers(lines[15'001])[1]), 1e-9);
}

TEST_F(CliTest, ErrorsAreInTheUsersTermsAndHaveTheirExitCodes) {
  CreateAndFit();
  const auto expect = [&](const std::string& words, const std::string& input, int code, const std::string& part) {
    const CommandResult result = Run(words, input);
    EXPECT_EQ(result.code, code) << words;
    EXPECT_TRUE(absl::StrContains(result.output, part)) << words << "\n" << result.output;
  };
  expect("observe wing -", "fidelity,x1,y\nlow,0.5,1\nlow,abc,1\n", 3,
         "standard input: row 3, column x1: \"abc\" is not a number");
  expect("observe wing -", "fidelity,x1,y\nmiddle,0.5,1\n", 3,
         "row 2, column fidelity: \"middle\" is not a fidelity of");
  expect("observe wing -", "fidelity,x1,y\nlow,nan,1\n", 3, "row 2, column x1: \"nan\" is not finite");
  expect("observe wing -", "low,0.5,1\nlow,0.6,2\n", 3, "row 1: numbers, but the first row must be a header");
  expect("observe wing -", "", 3, "standard input: empty, must start with a header");
  expect("observe wing none.csv", "", 3, "none.csv: cannot be read: No such file");
  expect("predict wing -", "x2\n1\n", 3, "header: no column x1");
  expect("predict wing - --quantiles 1.5", "x1\n1\n", 3, "--quantiles");
  expect("predict none -", "x1\n1\n", 4, "model none");
  expect("model create wing --inputs 1 --fidelities a", "", 5, "wing");
  expect("model create Wing --inputs 1 --fidelities a", "", 3, "NAME: \"Wing\"");
  expect("model create new --inputs 1 --fidelities a,b --costs 1,0", "", 3, "--costs, entry 2");
  expect("model create new --inputs 1 --fidelities a,b", "", 0, "created");
  expect("predict new -", "x1\n1\n", 6, "fidelio fit new --watch");
  expect("report new", "", 6, "fidelio fit new --watch");
  expect("fit new", "", 6, "observ");
  expect("rollback wing 9", "", 4, "revision 9 of model wing");
  expect("model import -", "no model", 3, "standard input: the file ends after 8 bytes");
  expect("report wing --at 1,2", "", 3, "--at: 2 numbers");
}

}  // namespace
}  // namespace fidelio
