#include "server/config/command_line.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/config/port_file.h"
#include "server/config/settings.h"

namespace fidelio {
namespace {

class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    directory_ = testing::TempDir() + "command_line_test_XXXXXX";
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
  }
  ~CommandLineTest() override { std::filesystem::remove_all(directory_); }

  std::string WriteFile(const std::string& text) {
    const std::string path = directory_ + "/fidelio.conf";
    std::ofstream(path) << text;
    return path;
  }

  static absl::StatusOr<CommandLine> Parse(const std::vector<std::string>& arguments,
                                           const std::map<std::string, std::string>& environment = {}) {
    return ParseCommandLine(arguments, environment, "fidelio-server 1.2.3");
  }

  static std::vector<std::string> Problems(const std::vector<std::string>& arguments,
                                           const std::map<std::string, std::string>& environment = {}) {
    const auto result = Parse(arguments, environment);
    if (result.ok()) return {};
    return absl::StrSplit(result.status().message(), '\n');
  }

  std::string directory_;
};

TEST_F(CommandLineTest, WithoutArgumentsServesWithTheDefaults) {
  const auto result = Parse({});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->action, Action::kServe);
  EXPECT_EQ(result->config, ServerConfig());
}

TEST_F(CommandLineTest, FlagsWinOverEnvironmentOverFileOverDefaults) {
  const std::string file = WriteFile("fit_workers = 2\nfit_threads = 2\nfit_queue = 2\n");
  const auto result =
      Parse({"--config", file, "--fit-workers", "4"}, {{"FIDELIO_FIT_WORKERS", "3"}, {"FIDELIO_FIT_THREADS", "3"}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->config.fit_workers, 4);
  EXPECT_EQ(result->config.fit_threads, 3);
  EXPECT_EQ(result->config.fit_queue, 2);
  EXPECT_EQ(result->config.max_models, ServerConfig().max_models);
}

TEST_F(CommandLineTest, TheFileMayBeNamedByTheEnvironment) {
  const auto result = Parse({}, {{"FIDELIO_CONFIG", WriteFile("fit_workers = 2\n")}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->config.fit_workers, 2);
}

TEST_F(CommandLineTest, EverySettingCanBeGivenInEveryWay) {
  ServerConfig other;
  other.listen = {"::1", 0};
  other.port_file = "p f";
  other.metrics_address = Address{"127.0.0.2", 0};
  for (const Setting& setting : Settings()) {
    const std::string value = setting.format(other);
    const std::string line = absl::StrCat(setting.name, " = \"", value, "\"\n");
    const auto flag = setting.is_switch ? Parse({FlagName(setting) + "=" + value}) : Parse({FlagName(setting), value});
    for (const auto& result :
         {flag, Parse({}, {{EnvironmentName(setting), value}}), Parse({"--config", WriteFile(line)})}) {
      ASSERT_TRUE(result.ok()) << setting.name << ": " << result.status();
      EXPECT_EQ(setting.format(result->config), value) << setting.name;
    }
  }
}

TEST_F(CommandLineTest, SwitchesNeedNoValue) {
  EXPECT_TRUE(Parse({"--insecure"})->config.insecure);
  EXPECT_FALSE(Parse({"--insecure=false"}, {{"FIDELIO_INSECURE", "true"}})->config.insecure);
  EXPECT_TRUE(Parse({"--insecure", "--metrics-public"})->config.insecure);
}

TEST_F(CommandLineTest, SwitchesTakeTheValueThatHelpShows) {
  EXPECT_TRUE(Parse({"--insecure", "true"})->config.insecure);
  EXPECT_FALSE(Parse({"--insecure", "false"}, {{"FIDELIO_INSECURE", "true"}})->config.insecure);
  EXPECT_FALSE(Parse({"--insecure", "maybe"}).ok());
}

TEST_F(CommandLineTest, AnEmptyMetricsAddressMeansNone) {
  EXPECT_FALSE(Parse({"--metrics-address", ""})->config.metrics_address.has_value());
  EXPECT_FALSE(Parse({"--metrics-address=off"})->config.metrics_address.has_value());
}

TEST_F(CommandLineTest, AllProblemsAreReportedAtOnceWithSettingValueOriginAndRule) {
  const std::string file = WriteFile("log_level = loud\nwat = 1\nbroken\n");
  const auto problems = Problems({"--fit-workers", "many", "--nonsense", "--listen", "0.0.0.0:1", "--config", file},
                                 {{"FIDELIO_CHECKPOINT_SECONDS", "6"}});
  const std::vector<std::string> expected = {
      "command line: \"--nonsense\" is not a flag; see --help",
      file + ":3: \"broken\" must be name = value",
      file + ":2: wat is not a setting; see --help",
      "fit_workers = \"many\" (from --fit-workers): must be an integer from 1 to 64",
      "checkpoint_seconds = \"6\" (from FIDELIO_CHECKPOINT_SECONDS): must be a number of seconds from 0.05 to 5",
      "log_level = \"loud\" (from " + file + ":1): must be one of debug, info, warning, error",
      "listen = \"0.0.0.0:1\" (from --listen): is not a loopback address, so TLS and tokens are needed",
  };
  ASSERT_EQ(problems.size(), expected.size()) << Parse({"--fit-workers", "many", "--nonsense"}).status();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(problems[i].substr(0, expected[i].size()), expected[i]);
  }
}

TEST_F(CommandLineTest, ABadValueIsAProblemAlsoWhereAFlagHidesIt) {
  EXPECT_EQ(Problems({"--fit-workers=2"}, {{"FIDELIO_FIT_WORKERS", "x"}}).size(), 1u);
}

TEST_F(CommandLineTest, AFlagWithoutItsValueIsReportedWithTheOtherProblems) {
  const auto problems = Problems({"--fit-workers"}, {{"FIDELIO_FIT_QUEUE", "x"}});
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_NE(problems[0].find("--fit-workers"), std::string::npos) << problems[0];
}

TEST_F(CommandLineTest, ValuesAreEscapedInProblems) {
  const auto problems = Problems({"--fit-workers=1\n\x1b[2J"});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].find("fit_workers = \"1\\n\\x1b[2J\""), 0u) << problems[0];
}

TEST_F(CommandLineTest, AMissingFileIsAProblem) {
  const auto problems = Problems({"--config", directory_ + "/none"});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0],
            "config = \"" + directory_ + "/none\": must be a file that can be read: No such file or directory");
  EXPECT_EQ(Problems({"--config", directory_}).size(), 1u) << "a directory is no file";
}

TEST_F(CommandLineTest, UnknownVariablesOfTheEnvironmentAreWarnings) {
  const auto result = Parse({}, {{"FIDELIO_FIT_WORKER", "3"}, {"PATH", "/bin"}});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_NE(result->warnings[0].find("FIDELIO_FIT_WORKER is not a setting"), std::string::npos);
}

TEST_F(CommandLineTest, ActionsAreRecognisedAndExcludeEachOther) {
  EXPECT_EQ(Parse({"--check"})->action, Action::kCheck);
  EXPECT_EQ(Parse({"--hash-token"})->action, Action::kHashToken);
  const auto backup = Parse({"--backup", "copy.db"});
  EXPECT_EQ(backup->action, Action::kBackup);
  EXPECT_EQ(backup->backup_file, "copy.db");
  EXPECT_EQ(Parse({"--probe"})->action, Action::kProbe);
  // Beside a server that others reach, nothing of its protection is needed; to serve, it is.
  EXPECT_TRUE(Parse({"--probe", "--listen", "0.0.0.0:1"}).ok());
  EXPECT_TRUE(Parse({"--backup", "copy.db", "--listen", "0.0.0.0:1"}).ok());
  EXPECT_FALSE(Parse({"--listen", "0.0.0.0:1"}).ok());
  EXPECT_EQ(Problems({"--check", "--backup", "b"}),
            std::vector<std::string>{"command line: --check and --backup exclude each other; give one"});
  EXPECT_EQ(Problems({"--backup", ""}).size(), 1u);
}

TEST_F(CommandLineTest, HelpNamesEverySettingAndVersionPrintsTheVersion) {
  const auto help = Parse({"--help", "--fit-workers=x"});
  ASSERT_TRUE(help.ok()) << help.status();
  EXPECT_EQ(help->action, Action::kPrint);
  for (const Setting& setting : Settings()) {
    EXPECT_NE(help->text.find(FlagName(setting)), std::string::npos) << setting.name;
  }
  EXPECT_EQ(Parse({"--version"})->text, "fidelio-server 1.2.3\n");
}

TEST_F(CommandLineTest, APrintedConfigStartsTheSameServer) {
  const auto printed = Parse({"--print-config", "--fit-workers=3", "--data-dir=/a b"});
  ASSERT_TRUE(printed.ok()) << printed.status();
  EXPECT_EQ(printed->action, Action::kPrint);
  const auto read = Parse({"--config", WriteFile(printed->text)});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->config, printed->config);
  EXPECT_EQ(read->config.data_dir, "/a b");
}

TEST_F(CommandLineTest, TheEnvironmentOfThisProcessIsRead) {
  ASSERT_EQ(setenv("FIDELIO_FIT_WORKERS", "5=5", 1), 0);
  EXPECT_EQ(FidelioEnvironment()["FIDELIO_FIT_WORKERS"], "5=5");
  ASSERT_EQ(unsetenv("FIDELIO_FIT_WORKERS"), 0);
  EXPECT_EQ(FidelioEnvironment().count("FIDELIO_FIT_WORKERS"), 0u);
}

TEST_F(CommandLineTest, ThePortFileHoldsThePortAndNothingElseIsLeft) {
  const std::string path = directory_ + "/port";
  ASSERT_TRUE(WritePortFile(path, 1).ok());
  ASSERT_TRUE(WritePortFile(path, 50051).ok());
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  EXPECT_EQ(line, "50051");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
  const absl::Status status = WritePortFile(directory_ + "/none/port", 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("No such file"), std::string::npos) << status;
}

}  // namespace
}  // namespace fidelio
