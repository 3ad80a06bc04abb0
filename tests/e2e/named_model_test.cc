// A model with named inputs and output through the programs: names are stored, columns go by name, and all that is written
// has them.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cpp/client.h"
#include "gtest/gtest.h"
#include "tests/e2e/e2e_server.h"
#include "tests/support/temp_directory.h"

namespace fidelio {
namespace {

class NamedModelTest : public ::testing::Test {
 protected:
  NamedModelTest() : server_(directory_ / "data") {}

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
  void Refused(const std::string& words, const std::string& input, const std::string& part) {
    const CommandResult result = Run(words, input);
    EXPECT_EQ(result.code, 3) << words;
    EXPECT_TRUE(absl::StrContains(result.output, part)) << words << "\n" << result.output;
  }

  const TempDirectory directory_;
  E2eServer server_;
};

TEST_F(NamedModelTest, ColumnsGoByNameFromTheFileToTheReport) {
  Ok("model create plate --input thickness[mm]=0.5:3 --input load[kN]=1:20 --output deflection[mm] --fidelities "
     "coarse,fine --costs 1,10");
  EXPECT_TRUE(absl::StrContains(Ok("model list"), "thickness, load"));
  const std::string shown = Ok("model show plate");
  EXPECT_TRUE(absl::StrContains(shown, "thickness (mm), 0.5 to 3")) << shown;
  EXPECT_TRUE(absl::StrContains(shown, "deflection (mm)")) << shown;

  // Columns in another order than the inputs.
  std::string runs = "deflection,load,fidelity,thickness\n";
  for (int i = 0; i < 16; ++i) {
    const double thickness = 0.5 + 2.5 * ((i * 7) % 16) / 15.0, load = 1 + 19 * ((i * 5) % 16) / 15.0;
    absl::StrAppend(&runs, load / (1 + thickness), ",", load, ",", i % 3 == 0 ? "fine" : "coarse", ",", thickness,
                    "\n");
  }
  Ok("observe plate -", runs);
  auto client = client::Client::Connect({.channel = {.server = server_.process().address()}});
  ASSERT_TRUE(client.ok()) << client.status();
  const auto stored = (*client)->ListObservations("plate", 1, 100);
  ASSERT_TRUE(stored.ok()) << stored.status();
  for (const client::Observations& batch : *stored) {
    EXPECT_GE(batch.inputs.col(0).minCoeff(), 0.5);
    EXPECT_LE(batch.inputs.col(0).maxCoeff(), 3);  // loads would be above
    EXPECT_TRUE(
        batch.outputs.isApprox((batch.inputs.col(1).array() / (1 + batch.inputs.col(0).array())).matrix(), 1e-5));
  }

  Refused("observe plate -", "fidelity,load,thick,y\nfine,1,2,3\n",
          "unknown column thick; columns are level or fidelity, thickness, load, deflection or y");
  Refused("observe plate -", "fidelity,x1,x2,y\nfine,1,2,3\n", "no column thickness");
  Refused("observe plate -", "fidelity,load,y\nfine,1,3\n", "no column thickness");

  Ok("fit plate --watch --budget-iterations 40");
  const std::vector<std::string> lines =
      absl::StrSplit(Ok("predict plate -", "thickness,load\n1,10\n"), absl::ByAnyChar("\n"), absl::SkipEmpty());
  const std::vector<std::string> permuted =
      absl::StrSplit(Ok("predict plate -", "load,thickness\n10,1\n"), absl::ByAnyChar("\n"), absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 2u);
  ASSERT_EQ(permuted.size(), 2u);
  EXPECT_EQ(lines[0], "thickness,load,mean,sd,median");
  EXPECT_EQ(lines[1].substr(4), permuted[1].substr(4));

  Ok(absl::StrCat("model export plate -o ", directory_ / "plate.fidelio"));
  Ok(absl::StrCat("model import ", directory_ / "plate.fidelio", " --name copy"));
  EXPECT_TRUE(absl::StrContains(Ok("model show copy"), "thickness (mm), 0.5 to 3"));

  // The report suggests what the command suggests.
  const auto suggested = (*client)->Suggest("plate", {.count = 3});
  ASSERT_TRUE(suggested.ok()) << suggested.status();
  EXPECT_TRUE(absl::StartsWith(Ok("suggest plate --count 3"), "fidelity,thickness,load\n"));
  Ok(absl::StrCat("report plate --runs 3 -o ", directory_ / "plate.html"));
  std::stringstream page;
  page << std::ifstream(directory_ / "plate.html").rdbuf();
  EXPECT_TRUE(absl::StrContains(page.str(), ">thickness (mm)</text>"));
  EXPECT_TRUE(absl::StrContains(page.str(), "deflection (mm)"));
  EXPECT_FALSE(absl::StrContains(page.str(), "class=\"missing\""));
  for (const client::Suggestion& run : suggested->runs) {
    char cells[64];
    std::snprintf(cells, sizeof(cells), "<td>%.3g</td><td>%.3g</td>", run.input[0], run.input[1]);
    EXPECT_TRUE(absl::StrContains(page.str(), cells)) << cells;
  }

  Ok("model update plate --input t[mm] --input f[kN] --no-output-name");
  EXPECT_TRUE(absl::StrContains(Ok("predict plate -", "f,t\n10,1\n"), "f,t,mean,sd,median"));
}

}  // namespace
}  // namespace fidelio
