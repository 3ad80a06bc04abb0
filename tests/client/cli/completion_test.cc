#include "client/cli/completion.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/cli/cli.h"
#include "gtest/gtest.h"
#include "tests/support/temp_directory.h"

namespace fidelio::cli {
namespace {

std::string Print(const std::string& shell) {
  std::istringstream in;
  std::ostringstream out, err;
  Streams streams{.in = in, .out = out, .err = err};
  EXPECT_EQ(RunCli({"completion", shell}, streams), 0) << err.str();
  return out.str();
}

// What bash offers for the last of the words, one per line.
std::vector<std::string> Offered(const std::vector<std::string>& words) {
  TempDirectory directory;
  std::string line;
  for (const std::string& word : words) absl::StrAppend(&line, " '", word, "'");
  const std::string script =
      absl::StrCat(Print("bash"), "\nfidelio() { echo wing; echo well; }\nCOMP_WORDS=(", line,
                   ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_fidelio\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  const std::string command = absl::StrCat("bash -c '", absl::StrReplaceAll(script, {{"'", "'\\''"}}), "' 2>&1");
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, n);
  EXPECT_EQ(pclose(pipe), 0) << output;
  return absl::StrSplit(output, '\n', absl::SkipEmpty());
}

using Words = std::vector<std::string>;

TEST(CompletionTest, BashOffersCommandsThatBeginSo) {
  EXPECT_EQ(Offered({"fidelio", "mo"}), Words({"model"}));
  EXPECT_EQ(Offered({"fidelio", "model", "e"}), Words({"export"}));
  EXPECT_EQ(Offered({"fidelio", "--server", "model", "rep"}), Words({"report"}));  // "model" is the server's name here
}

TEST(CompletionTest, BashOffersOptionsAndTheirWords) {
  EXPECT_EQ(Offered({"fidelio", "fit", "wing", "--wa"}), Words({"--watch", "--wait", "--warm-start"}));
  EXPECT_EQ(Offered({"fidelio", "fit", "wing", "--kernel", "mat"}), Words({"matern12", "matern32", "matern52"}));
  EXPECT_EQ(Offered({"fidelio", "model", "create", "a", "--kind", "mf"}), Words({"mf-dgp"}));
  EXPECT_EQ(Offered({"fidelio", "predict", "wing", "--tls-c"}), Words({"--tls-ca"}));  // of every command
}

TEST(CompletionTest, BashOffersModelsOfTheServer) {
  EXPECT_EQ(Offered({"fidelio", "fit", "w"}), Words({"wing", "well"}));
  EXPECT_EQ(Offered({"fidelio", "--json", "fit", "--seed", "3", "win"}), Words({"wing"}));
  EXPECT_EQ(Offered({"fidelio", "fit", "wing", "w"}), Words());  // there is one already
}

TEST(CompletionTest, BashOffersTheCommandsForObservationsAndDesigns) {
  EXPECT_EQ(Offered({"fidelio", "observations", ""}), Words({"list", "withdraw", "correct"}));
  EXPECT_EQ(Offered({"fidelio", "observations", "withdraw", "w"}), Words({"wing", "well"}));
  EXPECT_EQ(Offered({"fidelio", "observations", "withdraw", "wing", "--b"}), Words({"--batch"}));
  EXPECT_EQ(Offered({"fidelio", "observe", "wing", "--sk"}), Words({"--skip-duplicates"}));
  EXPECT_EQ(Offered({"fidelio", "design", "wing", "--method", "l"}), Words({"latin-hypercube"}));
}

TEST(CompletionTest, BashOffersCommandsAndModelsWhereBothMayStand) {
  EXPECT_EQ(Offered({"fidelio", "revisions", ""}), Words({"wing", "well", "delete"}));
  EXPECT_EQ(Offered({"fidelio", "revisions", "delete", "wi"}), Words({"wing"}));
}

TEST(CompletionTest, BashOffersFiles) {
  TempDirectory directory;
  const std::string file = directory / "runs.csv";
  std::ofstream{file} << "x1\n";
  EXPECT_EQ(Offered({"fidelio", "observe", "wing", directory / "ru"}), Words({file}));
  EXPECT_EQ(Offered({"fidelio", "predict", "wing", "a.csv", "-o", directory / "ru"}), Words({file}));
}

TEST(CompletionTest, EveryScriptKnowsEveryCommandAndOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = Print(shell);
    for (const char* word : {"sample-dpp", "server-info", "rollback", "exclude-observed", "all-revisions", "token-file",
                             "evidence", "fish"}) {
      EXPECT_NE(script.find(word), std::string::npos) << shell << " " << word;
    }
  }
}

}  // namespace
}  // namespace fidelio::cli
