#include "server/config/settings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "server/config/config_file.h"

namespace fidelio {
namespace {

using Config = ServerConfig;

Setting Integer(std::string name, int64_t Config::*member, int64_t least, int64_t most, std::string help) {
  return {.name = std::move(name),
          .type = "INTEGER",
          .help = std::move(help),
          .rule = absl::StrCat("must be an integer from ", least, " to ", most),
          .parse =
              [=](const std::string& text, Config& config) {
                int64_t value;
                if (!absl::SimpleAtoi(text, &value) || value < least || value > most) return false;
                config.*member = value;
                return true;
              },
          .format = [=](const Config& config) { return absl::StrCat(config.*member); }};
}

Setting Seconds(std::string name, double Config::*member, double least, double most, std::string help) {
  return {.name = std::move(name),
          .type = "SECONDS",
          .help = std::move(help),
          .rule = absl::StrCat("must be a number of seconds from ", least, " to ", most),
          .parse =
              [=](const std::string& text, Config& config) {
                double value;
                if (!absl::SimpleAtod(text, &value) || !(value >= least && value <= most)) return false;
                config.*member = value;
                return true;
              },
          .format = [=](const Config& config) { return absl::StrCat(config.*member); }};
}

Setting Path(std::string name, std::string Config::*member, bool required, std::string help) {
  return {.name = std::move(name),
          .type = "PATH",
          .help = std::move(help),
          .rule = required ? "must be a path" : "",
          .parse =
              [=](const std::string& text, Config& config) {
                if (required && text.empty()) return false;
                config.*member = text;
                return true;
              },
          .format = [=](const Config& config) { return config.*member; }};
}

template <typename Value>
Setting Choice(std::string name, Value Config::*member, std::vector<std::pair<std::string, Value>> choices,
               std::string help) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  return {.name = std::move(name),
          .type = absl::StrJoin(names, "|"),
          .help = std::move(help),
          .rule = absl::StrCat("must be one of ", absl::StrJoin(names, ", ")),
          .parse =
              [=](const std::string& text, Config& config) {
                for (const auto& [choice, value] : choices) {
                  if (choice != text) continue;
                  config.*member = value;
                  return true;
                }
                return false;
              },
          .format =
              [=](const Config& config) {
                return std::find_if(choices.begin(), choices.end(),
                                    [&](const auto& choice) { return choice.second == config.*member; })
                    ->first;
              }};
}

Setting Switch(std::string name, bool Config::*member, std::string help) {
  Setting setting = Choice<bool>(std::move(name), member, {{"true", true}, {"false", false}}, std::move(help));
  setting.is_switch = true;
  return setting;
}

std::string AddressRule() { return std::string(ParseAddress("").status().message()); }

Setting RequiredAddress(std::string name, Address Config::*member, std::string help) {
  return {.name = std::move(name),
          .type = "HOST:PORT",
          .help = std::move(help),
          .rule = AddressRule(),
          .parse =
              [=](const std::string& text, Config& config) {
                const auto address = ParseAddress(text);
                if (!address.ok()) return false;
                config.*member = *address;
                return true;
              },
          .format = [=](const Config& config) { return FormatAddress(config.*member); }};
}

Setting OptionalAddress(std::string name, std::optional<Address> Config::*member, std::string help) {
  return {.name = std::move(name),
          .type = "HOST:PORT|off",
          .help = std::move(help),
          .rule = AddressRule() + ", or off",
          .parse =
              [=](const std::string& text, Config& config) {
                if (text.empty() || text == "off") {
                  config.*member = std::nullopt;
                  return true;
                }
                const auto address = ParseAddress(text);
                if (!address.ok()) return false;
                config.*member = *address;
                return true;
              },
          .format =
              [=](const Config& config) {
                return (config.*member).has_value() ? FormatAddress(*(config.*member)) : "off";
              }};
}

std::vector<Setting> MakeSettings() {
  std::vector<Setting> settings;
  const auto group = [&](const char* name, std::vector<Setting> members) {
    for (Setting& setting : members) {
      setting.group = name;
      settings.push_back(std::move(setting));
    }
  };
  group("Where",
        {RequiredAddress("listen", &Config::listen, "address for calls; port 0 chooses a free port"),
         Path("port_file", &Config::port_file, false, "file to which the port is written once the server is ready"),
         Path("data_dir", &Config::data_dir, true, "directory of all models; created if it does not exist"),
         Seconds("grace_seconds", &Config::grace_seconds, 0, 3600, "time for running calls to finish after SIGTERM")});
  group("Fits",
        {Integer("fit_workers", &Config::fit_workers, 1, 64, "fits that run at the same time"),
         Integer("fit_threads", &Config::fit_threads, 0, 256, "threads of one fit; 0: one per core, at most 16"),
         Integer("fit_queue", &Config::fit_queue, 1, 100'000, "fits that may wait; more are refused"),
         Seconds("checkpoint_seconds", &Config::checkpoint_seconds, 0.05, 5,
                 "computing time between two saved states of a running fit: the most that a crash costs"),
         Integer("model_cache_mib", &Config::model_cache_mib, 1, 1 << 20, "memory for loaded models, in MiB")});
  group("Limits of the server",
        {Integer("max_threads", &Config::max_threads, 48, 100'000, "threads of the whole process"),
         Integer("max_memory_mib", &Config::max_memory_mib, 16, 1 << 20, "memory of calls in flight, in MiB"),
         Integer("max_open_files", &Config::max_open_files, 64, 1 << 20,
                 "file descriptors, including connections (a lower system limit applies)"),
         Integer("max_message_mib", &Config::max_message_mib, 1, 1024, "size of one message, in MiB"),
         Integer("max_metadata_kib", &Config::max_metadata_kib, 4, 1024, "size of a call's metadata, in KiB"),
         Integer("max_concurrent_streams", &Config::max_concurrent_streams, 1, 10'000,
                 "concurrent calls on one connection"),
         Seconds("idle_connection_seconds", &Config::idle_connection_seconds, 1, 1e6,
                 "time after which a connection without calls is closed")});
  group("Limits of models and calls",
        {Integer("max_models", &Config::max_models, 1, 10'000'000, "models on this server"),
         Integer("max_observations", &Config::max_observations, 1, 100'000'000, "observations of one model"),
         Integer("max_batch", &Config::max_batch, 1, 10'000'000, "observations of one AddObservations call"),
         Integer("max_inputs", &Config::max_inputs, 1, 100'000'000, "points of one Predict or SamplePaths call"),
         Integer("max_samples", &Config::max_samples, 1, 10'000'000, "paths of one SamplePaths call"),
         Integer("max_input_dimension", &Config::max_input_dimension, 1, 10'000, "input dimension of a model"),
         Integer("max_fidelities", &Config::max_fidelities, 1, 64, "fidelities of a model"),
         Integer("max_page", &Config::max_page, 1, 100'000, "entries of one page of a list"),
         Integer("keep_revisions", &Config::keep_revisions, 0, 1'000'000,
                 "revisions kept of each model, unless the model has its own number; 0: all")});
  group(
      "Security",
      {Path("tls_cert", &Config::tls_cert, false, "PEM file: the server's certificate, followed by its chain"),
       Path("tls_key", &Config::tls_key, false, "PEM file: the private key of tls_cert"),
       Path("tls_client_ca", &Config::tls_client_ca, false,
            "PEM file: clients need a certificate signed by one of these authorities (mutual TLS)"),
       Seconds("tls_reload_seconds", &Config::tls_reload_seconds, 0.1, 86'400,
               "how often the TLS files are checked for changes"),
       Path("tokens_file", &Config::tokens_file, false, "file of token digests and roles; if set, calls need a token"),
       Seconds("tokens_reload_seconds", &Config::tokens_reload_seconds, 0.1, 86'400,
               "how often the tokens file is checked for changes"),
       Switch("insecure", &Config::insecure, "allow a public address without TLS and tokens"),
       Choice<Reflection>("reflection", &Config::reflection,
                          {{"auto", Reflection::kAuto}, {"on", Reflection::kOn}, {"off", Reflection::kOff}},
                          "gRPC reflection; auto: unless tokens are required")});
  group("Observability",
        {OptionalAddress("metrics_address", &Config::metrics_address, "HTTP address of /metrics, /healthz and /readyz"),
         Switch("metrics_public", &Config::metrics_public, "allow a public metrics_address (it has no authentication)"),
         Choice<LogFormat>("log_format", &Config::log_format, {{"text", LogFormat::kText}, {"json", LogFormat::kJson}},
                           "format of the log, which goes to standard error"),
         Choice<LogLevel>("log_level", &Config::log_level,
                          {{"debug", LogLevel::kDebug},
                           {"info", LogLevel::kInfo},
                           {"warning", LogLevel::kWarning},
                           {"error", LogLevel::kError}},
                          "lowest level that is logged")});
  return settings;
}

}  // namespace

const std::vector<Setting>& Settings() {
  static const auto* settings = new std::vector<Setting>(MakeSettings());
  return *settings;
}

std::string FlagName(const Setting& setting) {
  return absl::StrCat("--", absl::StrReplaceAll(setting.name, {{"_", "-"}}));
}

std::string EnvironmentName(const Setting& setting) {
  return absl::StrCat("FIDELIO_", absl::AsciiStrToUpper(setting.name));
}

std::string PrintConfig(const ServerConfig& config) {
  std::string out;
  std::string group;
  for (const Setting& setting : Settings()) {
    if (setting.group != group) {
      group = setting.group;
      absl::StrAppend(&out, out.empty() ? "" : "\n", "# ", group, "\n");
    }
    absl::StrAppend(&out, setting.name, " = ", QuoteValue(setting.format(config)), "  # ", setting.help,
                    setting.rule.empty() ? "" : "; ", setting.rule, "\n");
  }
  return out;
}

}  // namespace fidelio
