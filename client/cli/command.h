// What the commands of `fidelio` share: where input and output go, and how the server is reached.
#ifndef FIDELIO_CLIENT_CLI_COMMAND_H_
#define FIDELIO_CLIENT_CLI_COMMAND_H_

#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/words.h"
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
  std::optional<ExitCode> exit_code;                                  // when the error's own is not the right one
  std::map<const CLI::Option*, std::vector<std::string>> words = {};  // that options take, for completion

  // A client for the options. Errors name the flag. `watch_patience`: ClientOptions::watch_give_up_after.
  absl::StatusOr<std::unique_ptr<client::Client>> Connect(
      std::function<void(const absl::Status& error, absl::Duration delay)> on_retry = {},
      std::optional<absl::Duration> watch_patience = {});

  // Prints the document with --json, and otherwise the text.
  void Print(const Json& json, const std::string& text);

  // Writes the document with --json, and otherwise the text, to the file of -o, or to standard output when that is empty
  // or "-".
  absl::Status Write(const std::string& output, const Json& json, const std::string& text);

  // The level that --level says (ParseLevel), if it does. Errors name the flag.
  absl::StatusOr<std::optional<int>> Level(const v1::Model& model, const std::string& text) const;

  // Tells people something beside the output that is written; not with --json.
  void Remark(const std::string& text);
};

// Adds a subcommand whose help ends with `examples`, and which runs `command`.
CLI::App* AddCommand(CLI::App& parent, Context& context, const std::string& name, const std::string& description,
                     const std::string& examples, std::function<absl::Status()> command);

// Adds a command that only holds others.
CLI::App* AddGroup(CLI::App& parent, const std::string& name, const std::string& description);

// What shells complete for an option: its words.
void SetWords(Context& context, const CLI::Option* option, std::vector<std::string> words);

// Adds an option whose value is one of a few words.
template <typename Value>
void AddChoice(CLI::App* app, Context& context, const std::string& flag, const std::string& type,
               const std::string& help, const std::vector<std::pair<std::string, Value>>& choices, Value& target) {
  std::vector<std::string> all;
  for (const auto& choice : choices) all.push_back(choice.first);
  CLI::Option* option = app->add_option_function<std::string>(
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
      help);
  option->type_name(type);
  SetWords(context, option, std::move(all));
}

// Adds an option whose value is a word of which servers know different ones (kinds of models, inferences); ServerWord
// tells what it means.
template <typename Value>
CLI::Option* AddServerWord(CLI::App* app, Context& context, const std::string& flag, const std::string& type,
                           const std::string& help, const std::vector<std::pair<std::string, Value>>& choices,
                           std::string& target) {
  std::vector<std::string> all;
  for (const auto& choice : choices) all.push_back(choice.first);
  CLI::Option* option = app->add_option(flag, target, help)->type_name(type);
  SetWords(context, option, std::move(all));
  return option;
}

// The value of such a word. One that this program does not know is looked up in those that the server has, which `listed`
// takes from GetServerInfo's answer; it is refused with them.
template <typename Value, typename Listed>
absl::StatusOr<Value> ServerWord(client::Client& client, const std::string& flag, const std::string& text,
                                 const std::vector<std::pair<std::string, Value>>& choices, Listed listed) {
  if (const Value value = ValueFor(choices, text); static_cast<int>(value) != 0) return value;
  const auto info = client.GetServerInfo();
  if (!info.ok()) return info.status();
  const std::vector<std::pair<std::string, Value>> known = listed(*info);
  if (const Value value = ValueFor(known, text); static_cast<int>(value) != 0) return value;
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": \"", text, "\" is not one of ", AllWords(known), ", which the server has"));
}

// The rule of names, for those who typed another.
inline constexpr char kNameRule[] =
    "a name consists of lower-case letters, digits and hyphens, and starts with a letter";

// Checks that the value of an option is a number above, or at least, 0.
CLI::Validator Positive();
CLI::Validator NotNegative();

// Checks that it names a fit or a revision: by its number, or in full as answers do.
CLI::Validator ResourceNumber();

// The commands, by file.
CLI::App* AddModelCommands(CLI::App& app, Context& context);    // model create, list, show, update, delete
void AddTransferCommands(CLI::App& model, Context& context);    // model export, import
void AddObserveCommand(CLI::App& app, Context& context);        // observe
void AddObservationsCommands(CLI::App& app, Context& context);  // observations list, withdraw, correct
void AddInitialDesignCommand(CLI::App& app, Context& context);  // design
void AddFitCommands(CLI::App& app, Context& context);           // fit, fits
void AddPredictCommand(CLI::App& app, Context& context);        // predict
void AddScoreCommand(CLI::App& app, Context& context);          // score
void AddSamplePathsCommand(CLI::App& app, Context& context);    // sample-paths
void AddDesignCommands(CLI::App& app, Context& context);        // sample-dpp, suggest, diagnose
void AddReportCommand(CLI::App& app, Context& context);         // report
void AddRevisionsCommand(CLI::App& app, Context& context);      // revisions, revisions delete
void AddServerCommands(CLI::App& app, Context& context);        // rollback, server-info
void AddCompletionCommand(CLI::App& app, Context& context);     // completion; after all others

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_COMMAND_H_
