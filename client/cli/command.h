// What the commands of `fidelio` share: where input and output go, and how the server is reached.
#ifndef FIDELIO_CLIENT_CLI_COMMAND_H_
#define FIDELIO_CLIENT_CLI_COMMAND_H_

#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cpp/client.h"

namespace fidelio::cli {

// Streams of the process, or of a test.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_terminal = false;
  int err_width = 0;  // columns of the terminal that err is; 0: it is none
};

// Options of every command.
struct GlobalOptions {
  std::string server = "127.0.0.1:50051";
  std::string token_file;
  bool tls = false;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_server_name;
  bool insecure_token = false;
  double timeout_seconds = 60;
  double retry_seconds = 10;
  bool json = false;
};

// The command line being parsed, and the command that it chose. Lives as long as the CLI::App. Not thread-safe.
struct Context {
  Streams& streams;
  GlobalOptions options;
  std::function<absl::Status()> command;
  std::optional<ExitCode> exit_code;  // when the error's own is not the right one

  // A client for the options. Errors name the flag.
  absl::StatusOr<std::unique_ptr<client::Client>> Connect(
      std::function<void(const absl::Status& error, absl::Duration delay)> on_retry = {});

  // Prints the document with --json, and otherwise the text.
  void Print(const Json& json, const std::string& text);

  // Writes the document with --json, and otherwise the text, to the file of -o, or to standard output when that is empty
  // or "-".
  absl::Status Write(const std::string& output, const Json& json, const std::string& text);

  // Tells people something beside the output that is written; not with --json.
  void Remark(const std::string& text);
};

// Adds a subcommand whose help ends with `examples`, and which runs `command`.
CLI::App* AddCommand(CLI::App& parent, Context& context, const std::string& name, const std::string& description,
                     const std::string& examples, std::function<absl::Status()> command);

// Adds an option whose value is one of a few words.
template <typename Value>
void AddChoice(CLI::App* app, const std::string& flag, const std::string& type, const std::string& help,
               const std::vector<std::pair<std::string, Value>>& choices, Value& target) {
  app->add_option_function<std::string>(
         flag,
         [flag, choices, &target](const std::string& text) {
           std::string words;
           for (const auto& [word, value] : choices) {
             if (word == text) {
               target = value;
               return;
             }
             words += (words.empty() ? "" : ", ") + word;
           }
           throw CLI::ValidationError(flag, "\"" + text + "\" is not one of " + words);
         },
         help)
      ->type_name(type);
}

// Checks that the value of an option is a number above, or at least, 0.
CLI::Validator Positive();
CLI::Validator NotNegative();

// The commands, by file.
void AddModelCommands(CLI::App& app, Context& context);       // model create, list, show, delete
void AddObserveCommand(CLI::App& app, Context& context);      // observe
void AddFitCommands(CLI::App& app, Context& context);         // fit, fits
void AddPredictCommands(CLI::App& app, Context& context);     // predict, score
void AddSamplePathsCommand(CLI::App& app, Context& context);  // sample-paths
void AddDesignCommands(CLI::App& app, Context& context);      // sample-dpp, suggest, diagnose
void AddServerCommands(CLI::App& app, Context& context);      // revisions, server-info

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_COMMAND_H_
