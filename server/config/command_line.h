// The command line of fidelio-server: what to do, and with which configuration.
//
// A setting is taken from its flag, else from its environment variable, else from the file (--config FILE or
// FIDELIO_CONFIG), else it has its default. All problems are found in one pass, and each names the setting, its value,
// where the value came from and the rule. No state; safe from any thread.
#ifndef FIDELIO_SERVER_CONFIG_COMMAND_LINE_H_
#define FIDELIO_SERVER_CONFIG_COMMAND_LINE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/server_config.h"

namespace fidelio {

enum class Action {
  kServe,
  kPrint,      // print `text` and end: --help, --version, --print-config
  kCheck,      // verify the data directory
  kBackup,     // copy the data directory to `backup_file`
  kProbe,      // ask the running server whether it is ready
  kHashToken,  // print the digest of a token from standard input
};

struct CommandLine {
  Action action = Action::kServe;
  ServerConfig config;
  std::string text;
  std::string backup_file;
  std::vector<std::string> warnings;  // to be logged: nothing that prevents a start
};

// `arguments` without the program's name; of `environment` only names that begin with FIDELIO_ matter.
// INVALID_ARGUMENT: one line per problem.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                             const std::map<std::string, std::string>& environment,
                                             const std::string& version);

// The variables of this process that begin with FIDELIO_.
std::map<std::string, std::string> FidelioEnvironment();

}  // namespace fidelio

#endif  // FIDELIO_SERVER_CONFIG_COMMAND_LINE_H_
