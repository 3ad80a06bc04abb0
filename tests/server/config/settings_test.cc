#include "server/config/settings.h"

#include <gtest/gtest.h>

#include <set>

#include "server/config/config_file.h"
#include "server/config/rules.h"

namespace fidelio {
namespace {

TEST(SettingsTest, DefaultsFollowEveryRule) {
  EXPECT_TRUE(CheckRules(ServerConfig()).empty());
  for (const Setting& setting : Settings()) {
    ServerConfig config;
    EXPECT_TRUE(setting.parse(setting.format(ServerConfig()), config)) << setting.name;
    EXPECT_EQ(config, ServerConfig()) << setting.name;
  }
}

TEST(SettingsTest, NamesAreUniqueAndEverythingIsExplained) {
  std::set<std::string> names;
  for (const Setting& setting : Settings()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_FALSE(setting.help.empty()) << setting.name;
    EXPECT_FALSE(setting.type.empty()) << setting.name;
  }
}

TEST(SettingsTest, BadValuesAreRefusedAndChangeNothing) {
  for (const Setting& setting : Settings()) {
    if (setting.rule.empty()) continue;  // every text is a value
    for (const char* text : {"\x01", "-1", "nan", "1e999", "99999999999999999999", "1 2"}) {
      if (setting.type == "PATH") continue;
      ServerConfig config;
      EXPECT_FALSE(setting.parse(text, config)) << setting.name << " " << text;
      EXPECT_EQ(config, ServerConfig()) << setting.name;
    }
  }
}

TEST(SettingsTest, FlagAndVariableAreDerivedFromTheName) {
  const Setting setting{.name = "fit_workers"};
  EXPECT_EQ(FlagName(setting), "--fit-workers");
  EXPECT_EQ(EnvironmentName(setting), "FIDELIO_FIT_WORKERS");
}

TEST(SettingsTest, APrintedConfigReadsBackAsItWas) {
  ServerConfig config;
  config.listen = {"::1", 7};
  config.metrics_address = std::nullopt;
  config.data_dir = "/with space # and \"quotes\"";
  config.checkpoint_seconds = 0.25;
  config.insecure = true;
  config.reflection = Reflection::kOff;
  config.log_format = LogFormat::kJson;
  config.log_level = LogLevel::kError;
  config.max_inputs = 12345678;
  const auto contents = ParseConfigFile(PrintConfig(config), "printed");
  ASSERT_TRUE(contents.problems.empty()) << contents.problems[0];
  ASSERT_EQ(contents.entries.size(), Settings().size());
  ServerConfig read;
  for (size_t i = 0; i < contents.entries.size(); ++i) {
    EXPECT_EQ(contents.entries[i].name, Settings()[i].name);
    EXPECT_TRUE(Settings()[i].parse(contents.entries[i].value, read));
  }
  EXPECT_EQ(read, config);
}

}  // namespace
}  // namespace fidelio
