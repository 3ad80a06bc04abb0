#include "client/cli/cli.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/as_typed.h"
#include "client/cli/help_formatter.h"

namespace fidelio::cli {
namespace {

constexpr char kFooter[] = R"(Help on a command: fidelio COMMAND --help

A first model:
  fidelio model create wing --inputs 2 --fidelities low,high --lower 0,0 --upper 1,1
  fidelio design wing --fidelity low=40,high=10 -o runs.csv    then fill in its column y
  fidelio observe wing runs.csv
  fidelio fit wing --watch
  fidelio predict wing points.csv --quantiles 0.025,0.975
  fidelio suggest wing --count 4 -o next.csv
  fidelio report wing -o wing.html

Environment: options that are not given take their values from the variables shown next to them;
FIDELIO_TOKEN may hold the token itself.

)";

void AddGlobalOptions(CLI::App& app, GlobalOptions& options) {
  const auto add = [&](const char* flag, auto& target, const char* environment, const char* type, const char* help) {
    return app.add_option(flag, target, help)->envname(environment)->type_name(type);
  };
  add("--server", options.server, "FIDELIO_SERVER", "HOST:PORT", "address of the server")->capture_default_str();
  add("--token-file", options.token_file, "FIDELIO_TOKEN_FILE", "FILE", "file that holds the token");
  app.add_flag("--tls", options.tls, "use TLS, and trust the system's certificate authorities")->envname("FIDELIO_TLS");
  add("--tls-ca", options.tls_ca, "FIDELIO_TLS_CA", "FILE",
      "use TLS, and trust the certificate authorities in this PEM file");
  add("--tls-server-name", options.tls_server_name, "FIDELIO_TLS_SERVER_NAME", "NAME",
      "name in the server's certificate, if it is not the host name");
  add("--client-cert", options.tls_cert, "FIDELIO_CLIENT_CERT", "FILE", "PEM: own certificate, for mutual TLS");
  add("--client-key", options.tls_key, "FIDELIO_CLIENT_KEY", "FILE", "PEM: private key of --client-cert");
  app.add_flag("--insecure-token", options.insecure_token, "send the token to another machine without TLS");
  add("--timeout", options.timeout_seconds, "FIDELIO_TIMEOUT", "SECONDS",
      "timeout of a call (watching a fit may take longer)")
      ->check(Positive())
      ->capture_default_str();
  add("--retry", options.retry_seconds, "FIDELIO_RETRY", "SECONDS", "how long to retry while the server is unreachable")
      ->check(NotNegative())
      ->capture_default_str();
  app.add_flag("--json", options.json, "print JSON");
}

// How many letters must be changed, added or left out to make one word of the other (Levenshtein).
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// "; did you mean create?" when a known word is that near; otherwise nothing.
std::string DidYouMean(const std::string& typed, const std::vector<std::string>& known) {
  const std::string word = typed.substr(0, typed.find('='));
  const std::string* nearest = nullptr;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    if (const size_t distance = Distance(word, candidate); distance < least) {
      least = distance;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? "" : absl::StrCat("; did you mean ", *nearest, "?");
}

// CLI11's "Could not convert: --k = 2.5" in our words: numbers that pass our checks and can't be converted are not whole.
std::string NotWhole(absl::string_view what) {
  const size_t equals = what.find(" = ");
  if (!absl::ConsumePrefix(&what, "Could not convert: ") || equals == absl::string_view::npos) return std::string(what);
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(what, absl::MaxSplits(" = ", 1));
  return absl::StrCat(parts.first, ": \"", parts.second, "\" is not a whole number in range");
}

// Names the variable beside the option when the value came from there: nobody typed the option.
std::string WithVariable(const CLI::App& app, const std::string& what) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string prefix = absl::StrCat(option->get_name(), ": ");
    if (option->get_envname().empty() || !absl::StartsWith(what, prefix)) continue;
    const char* const value = std::getenv(option->get_envname().c_str());
    if (value == nullptr || !absl::StartsWith(what, absl::StrCat(prefix, "\"", value, "\""))) continue;
    return absl::StrCat(option->get_name(), " (", option->get_envname(), ")", what.substr(prefix.size() - 2));
  }
  return what;
}

// What is wrong with a command line, in which command.
std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  std::string command = app.get_name();
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().front();
    absl::StrAppend(&command, " ", deepest->get_name());
  }
  std::string what = error.what();
  const std::vector<std::string> rest = app.remaining(/*recurse=*/true);
  std::vector<std::string> commands, flags;
  for (const CLI::App* sub : deepest->get_subcommands({})) commands.push_back(sub->get_name());
  for (const CLI::App* level : {deepest, &app}) {
    for (const CLI::Option* option : level->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
  }
  // A command that takes arguments besides its own commands.
  const std::vector<const CLI::Option*> options = deepest->get_options();
  const bool has_positionals = std::any_of(options.begin(), options.end(), [](const CLI::Option* option) {
    return option->get_lnames().empty() && option->get_snames().empty();
  });
  const bool missing = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  const bool extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ConversionError)) {
    what = NotWhole(what);
  } else if (!missing && !extra) {
    what = WithVariable(app, what);  // it says itself which option has what value
  } else if (!commands.empty() && rest.empty()) {
    what = absl::StrCat("a command is missing: one of ", absl::StrJoin(commands, ", "));
  } else if (!commands.empty() && !absl::StartsWith(rest.front(), "-") && !has_positionals) {
    what = absl::StrCat("\"", rest.front(), "\" is not a command", DidYouMean(rest.front(), commands));
  } else if (!rest.empty() && absl::StartsWith(rest.front(), "-")) {
    what = absl::StrCat("\"", rest.front(), "\" is not an option", DidYouMean(rest.front(), flags));
  } else if (extra && !rest.empty()) {
    what = absl::StrCat("\"", rest.front(), "\" is one argument too many");
  }
  return absl::StrCat(command, ": ", what, absl::EndsWith(what, "?") ? " See " : "; see ", command, " --help");
}

// What to look at when a server can't be reached, does not know the caller, or refuses a name.
std::string Hint(const absl::Status& status, const GlobalOptions& options) {
  // The server states the rule of names as a regular expression.
  if (absl::StrContains(status.message(), "[a-z]([a-z0-9-]") && !absl::StrContains(status.message(), kNameRule)) {
    return absl::StrCat("\n  ", kNameRule);
  }
  if (absl::IsUnauthenticated(status)) return "\n  --token-file or FIDELIO_TOKEN_FILE names the file with your token";
  if (!absl::IsUnavailable(status)) return "";
  if (absl::StrContains(status.message(), "certificate verify failed")) {
    return "\n  --tls-ca names the file with the authority that signed the server's certificate";
  }
  const bool tls = options.tls || !options.tls_ca.empty() || !options.tls_cert.empty();
  if (absl::StrContains(status.message(), "wrong version number")) {
    return "\n  the server does not use TLS: leave out --tls, --tls-ca and --client-cert, and their variables";
  }
  return absl::StrCat("\n  is fidelio-server running? --server gives its address",
                      tls ? "" : "; a server with TLS needs --tls or --tls-ca");
}

int Fail(const absl::Status& status, Context& context) {
  const std::string message = absl::StrCat(ForPeople(status.message()), Hint(status, context.options));
  if (context.options.json) {
    context.streams.err << ErrorToJson(status).dump(2) << std::endl;
  } else {
    context.streams.err << "fidelio: " << message << std::endl;
  }
  return static_cast<int>(context.exit_code.value_or(ExitCodeOf(status)));
}

}  // namespace

int RunCli(const std::vector<std::string>& arguments, Streams& streams) {
  Context context{.streams = streams, .options = {}, .command = {}, .exit_code = {}};
  CLI::App app("fidelio: learn from many cheap runs and a few expensive ones, and predict the expensive ones",
               "fidelio");
  app.formatter(std::make_shared<HelpFormatter>());  // commands that are added below inherit it
  app.set_version_flag("--version", "fidelio " FIDELIO_VERSION);
  app.fallthrough();  // options of every command may stand after the command, too
  app.require_subcommand(1);
  app.footer(absl::StrCat(kFooter, ExitCodeHelp()));
  AddGlobalOptions(app, context.options);
  AddTransferCommands(*AddModelCommands(app, context), context);
  AddInitialDesignCommand(app, context);
  AddObserveCommand(app, context);
  AddObservationsCommands(app, context);
  AddFitCommands(app, context);
  AddPredictCommand(app, context);
  AddScoreCommand(app, context);
  AddSamplePathsCommand(app, context);
  AddDesignCommands(app, context);
  AddReportCommand(app, context);
  AddRevisionsCommand(app, context);
  AddServerCommands(app, context);
  AddCompletionCommand(app, context);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 wants the last one first
  } catch (const CLI::Success& help) {
    app.exit(help, streams.out, streams.err);
    return static_cast<int>(ExitCode::kOk);
  } catch (const CLI::ParseError& error) {
    const std::string message = Explain(app, error);
    // The flag itself may not have been parsed.
    if (std::find(arguments.begin(), arguments.end(), "--json") != arguments.end()) {
      streams.err << ErrorToJson(absl::InvalidArgumentError(message)).dump(2) << std::endl;
    } else {
      streams.err << message << std::endl;
    }
    return static_cast<int>(ExitCode::kUsage);
  }
  const absl::Status status = context.command();
  return status.ok() ? static_cast<int>(ExitCode::kOk) : Fail(status, context);
}

}  // namespace fidelio::cli
