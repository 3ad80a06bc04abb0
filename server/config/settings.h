// The table of settings: the one place from which flags, environment, file, --print-config and --help are derived.
//
// A setting `fit_workers` is the flag --fit-workers, the variable FIDELIO_FIT_WORKERS and the line `fit_workers = 2` of a
// file. Immutable; safe to share between threads.
#ifndef FIDELIO_SERVER_CONFIG_SETTINGS_H_
#define FIDELIO_SERVER_CONFIG_SETTINGS_H_

#include <functional>
#include <string>
#include <vector>

#include "server/config/server_config.h"

namespace fidelio {

struct Setting {
  std::string name = {};
  std::string group = {};  // heading in --help and --print-config
  std::string type = {};   // what a value looks like, for --help
  std::string help = {};
  std::string rule = {};  // empty: every text is a value
  bool is_switch = false;
  // Sets the member from text. Returns false, and leaves the config alone, when the text breaks the rule.
  std::function<bool(const std::string& text, ServerConfig& config)> parse = {};
  // The inverse of parse.
  std::function<std::string(const ServerConfig& config)> format = {};
};

// All settings, in the order of --help.
const std::vector<Setting>& Settings();

std::string FlagName(const Setting& setting);         // --fit-workers
std::string EnvironmentName(const Setting& setting);  // FIDELIO_FIT_WORKERS

// The file that sets everything to what `config` says, with help and rules as comments.
std::string PrintConfig(const ServerConfig& config);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_CONFIG_SETTINGS_H_
