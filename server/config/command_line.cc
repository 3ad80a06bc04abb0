#include "server/config/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/config/config_file.h"
#include "server/config/read_file.h"
#include "server/config/rules.h"
#include "server/config/settings.h"

namespace fidelio {
namespace {

constexpr char kFooter[] =
    R"(Every setting is also an environment variable (FIDELIO_FIT_WORKERS for --fit-workers) and a line of the file given
with --config (fit_workers = 2). Flags win over the environment, the environment over the file, the file over defaults.

Examples:
  fidelio-server                                        this machine only, data in ./fidelio-data
  fidelio-server --data-dir /var/lib/fidelio --fit-workers 2
  fidelio-server --listen 0.0.0.0:50051 --tls-cert cert.pem --tls-key key.pem --tokens-file tokens
  fidelio-server --print-config > fidelio.conf          a file to edit, with every rule in it
  fidelio-server --config fidelio.conf
  openssl rand -hex 32 | tee token | fidelio-server --hash-token
  fidelio-server --probe && echo ready                  as the health check of a container
  fidelio-server --data-dir /var/lib/fidelio --check
  fidelio-server --data-dir /var/lib/fidelio --backup fidelio.backup
)";

// A value that was set, and by what.
struct Given {
  std::string value;
  std::string origin;
};

// What the flags say, before anything is judged.
struct Flags {
  std::map<std::string, Given> settings;
  std::optional<std::string> config_file;
  std::optional<std::string> backup_file;
  bool check = false;
  bool print_config = false;
  bool probe = false;
  bool hash_token = false;
  std::string text;  // of --help or --version
  std::vector<std::string> problems;
};

std::string Shown(const std::string& value) {
  constexpr size_t kLongest = 200;
  return absl::StrCat("\"", absl::CHexEscape(value.substr(0, kLongest)), value.size() > kLongest ? "..." : "", "\"");
}

Flags ParseFlags(std::vector<std::string> arguments, const std::string& version) {
  Flags flags;
  CLI::App app("fidelio-server: serves multi-fidelity models over gRPC", "fidelio-server");
  app.allow_extras();
  app.get_formatter()->column_width(44);
  app.footer(kFooter);
  app.set_help_flag("-h,--help", "print this help")->group("Actions");
  app.set_version_flag("--version", version, "print the version")->group("Actions");
  app.add_option("--config", flags.config_file, "file of settings")->type_name("FILE")->group("Where");
  app.add_flag("--check", flags.check, "verify everything in the data directory, and say what is wrong")
      ->group("Actions");
  app.add_option("--backup", flags.backup_file, "copy the data directory's store to FILE, also while a server runs")
      ->type_name("FILE")
      ->group("Actions");
  app.add_flag("--probe", flags.probe, "ask the running server at metrics_address whether it is ready")
      ->group("Actions");
  app.add_flag("--print-config", flags.print_config, "print the configuration as a file for --config")
      ->group("Actions");
  app.add_flag("--hash-token", flags.hash_token, "read a token from standard input, print its digest for tokens_file")
      ->group("Actions");

  const ServerConfig defaults;
  std::vector<std::pair<const Setting*, CLI::Option*>> options;
  std::vector<std::string> texts(Settings().size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const Setting& setting = Settings()[i];
    const std::string standard = setting.format(defaults);
    const std::string help =
        absl::StrCat(setting.help, setting.is_switch || standard.empty() ? "" : " [" + standard + "]");
    CLI::Option* option = app.add_option(FlagName(setting), texts[i], help);
    option->type_name(setting.type)->group(setting.group)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (setting.is_switch) option->expected(0, 1);  // "--insecure" is "--insecure true"
    options.emplace_back(&setting, option);
  }

  try {
    std::reverse(arguments.begin(), arguments.end());  // what this overload of parse expects
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    flags.text = app.help();
  } catch (const CLI::CallForVersion&) {
    flags.text = absl::StrCat(version, "\n");
  } catch (const CLI::ParseError& error) {
    flags.problems.push_back(absl::StrCat("command line: ", error.what()));
  }
  for (const std::string& extra : app.remaining()) {
    flags.problems.push_back(absl::StrCat("command line: ", Shown(extra), " is not a flag; see --help"));
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto& [setting, option] = options[i];
    if (option->count() == 0) continue;
    flags.settings[setting->name] = {setting->is_switch && texts[i].empty() ? "true" : texts[i], FlagName(*setting)};
  }
  return flags;
}

std::map<std::string, Given> ReadEnvironment(const std::map<std::string, std::string>& environment,
                                             std::vector<std::string>& warnings) {
  std::map<std::string, Given> given;
  std::map<std::string, std::string> names;
  for (const Setting& setting : Settings()) names[EnvironmentName(setting)] = setting.name;
  for (const auto& [variable, value] : environment) {
    if (!absl::StartsWith(variable, "FIDELIO_") || variable == "FIDELIO_CONFIG") continue;
    const auto name = names.find(variable);
    if (name == names.end()) {
      // Not a problem: clients have variables of their own.
      warnings.push_back(absl::StrCat("environment: ", variable, " is not a setting of the server, and ignored"));
    } else {
      given[name->second] = {value, variable};
    }
  }
  return given;
}

std::map<std::string, Given> ReadFile(const std::string& path, std::vector<std::string>& problems) {
  std::map<std::string, Given> given;
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) {
    problems.push_back(absl::StrCat("config = ", Shown(path), ": ", text.status().message()));
    return given;
  }
  ConfigFileContents contents = ParseConfigFile(*text, path);
  problems.insert(problems.end(), contents.problems.begin(), contents.problems.end());
  for (ConfigFileEntry& entry : contents.entries) {
    const std::string where = absl::StrCat(path, ":", entry.line);
    const bool known = std::any_of(Settings().begin(), Settings().end(),
                                   [&](const Setting& setting) { return setting.name == entry.name; });
    if (known) {
      given[entry.name] = {std::move(entry.value), where};
    } else {
      problems.push_back(absl::StrCat(where, ": ", entry.name, " is not a setting; see --help"));
    }
  }
  return given;
}

std::string Problem(const std::string& setting, const Given& given, const std::string& rule) {
  return absl::StrCat(setting, " = ", Shown(given.value), " (from ", given.origin, "): ", rule);
}

// Sets `config` from the sources, the first of which wins. Rules between settings hold for what `serves`.
void Resolve(const std::vector<std::map<std::string, Given>>& sources, bool serves, ServerConfig& config,
             std::vector<std::string>& problems) {
  std::map<std::string, Given> used;
  for (const Setting& setting : Settings()) {
    Given& chosen = used[setting.name];
    chosen = {setting.format(config), "the default"};
    bool decided = false;
    for (const auto& source : sources) {
      const auto given = source.find(setting.name);
      if (given == source.end()) continue;
      // A bad value is a problem also where a better source hides it: it would surprise later.
      ServerConfig scratch;
      if (!setting.parse(given->second.value, decided ? scratch : config)) {
        problems.push_back(Problem(setting.name, given->second, setting.rule));
      }
      if (!decided) chosen = given->second;
      decided = true;
    }
  }
  if (!serves) return;
  for (const RuleViolation& violation : CheckRules(config)) {
    problems.push_back(Problem(violation.setting, used[violation.setting], violation.rule));
  }
}

absl::StatusOr<Action> ChooseAction(const Flags& flags) {
  std::vector<std::string> names;
  Action action = Action::kServe;
  const auto consider = [&](bool given, const char* name, Action named) {
    if (!given) return;
    names.push_back(name);
    action = named;
  };
  consider(flags.check, "--check", Action::kCheck);
  consider(flags.backup_file.has_value(), "--backup", Action::kBackup);
  consider(flags.print_config, "--print-config", Action::kPrint);
  consider(flags.probe, "--probe", Action::kProbe);
  consider(flags.hash_token, "--hash-token", Action::kHashToken);
  if (names.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("command line: ", absl::StrJoin(names, " and "), " exclude each other; give one"));
  }
  if (flags.backup_file.has_value() && flags.backup_file->empty()) {
    return absl::InvalidArgumentError("command line: --backup \"\": must be the path of a file");
  }
  return action;
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                             const std::map<std::string, std::string>& environment,
                                             const std::string& version) {
  CommandLine result;
  Flags flags = ParseFlags(arguments, version);
  if (!flags.text.empty()) {
    result.action = Action::kPrint;
    result.text = std::move(flags.text);
    return result;
  }
  std::vector<std::string> problems = std::move(flags.problems);
  const absl::StatusOr<Action> action = ChooseAction(flags);
  if (action.ok()) {
    result.action = *action;
  } else {
    problems.emplace_back(action.status().message());
  }
  result.backup_file = flags.backup_file.value_or("");

  std::vector<std::map<std::string, Given>> sources = {std::move(flags.settings),
                                                       ReadEnvironment(environment, result.warnings)};
  const auto from_environment = environment.find("FIDELIO_CONFIG");
  if (!flags.config_file.has_value() && from_environment != environment.end()) {
    flags.config_file = from_environment->second;
  }
  if (flags.config_file.has_value()) sources.push_back(ReadFile(*flags.config_file, problems));

  // Rules between settings are about serving: a backup beside a server need not know how that one is protected.
  const bool serves = result.action == Action::kServe || result.action == Action::kPrint;
  Resolve(sources, serves, result.config, problems);
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  if (flags.print_config) result.text = PrintConfig(result.config);
  return result;
}

std::map<std::string, std::string> FidelioEnvironment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (text.substr(0, 8) != "FIDELIO_" || equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace fidelio
