#include "client/cli/cli.h"

#include "absl/strings/str_cat.h"

namespace fidelio::cli {
namespace {

constexpr char kFooter[] = R"(Every command explains itself: fidelio COMMAND --help

A first model:
  fidelio model create wing --inputs 2 --fidelities low,high
  fidelio observe wing runs.csv
  fidelio fit wing --watch
  fidelio predict wing points.csv --quantiles 0.025,0.975
  fidelio suggest wing --count 4 -o next.csv

)";

void AddGlobalOptions(CLI::App& app, GlobalOptions& options) {
  const auto add = [&](const char* flag, auto& target, const char* environment, const char* type, const char* help) {
    return app.add_option(flag, target, help)->envname(environment)->type_name(type);
  };
  add("--server", options.server, "FIDELIO_SERVER", "HOST:PORT", "where the server is")->capture_default_str();
  add("--token-file", options.token_file, "FIDELIO_TOKEN_FILE", "FILE", "holds the token to show");
  app.add_flag("--tls", options.tls, "use TLS, and trust the authorities that the system trusts")
      ->envname("FIDELIO_TLS");
  add("--tls-ca", options.tls_ca, "FIDELIO_TLS_CA", "FILE", "use TLS, and trust the authorities in this PEM file");
  add("--tls-server-name", options.tls_server_name, "FIDELIO_TLS_SERVER_NAME", "NAME",
      "that the server's certificate must have, if not the host's");
  add("--client-cert", options.tls_cert, "FIDELIO_CLIENT_CERT", "FILE", "PEM: own certificate, for mutual TLS");
  add("--client-key", options.tls_key, "FIDELIO_CLIENT_KEY", "FILE", "PEM: private key of --client-cert");
  app.add_flag("--insecure-token", options.insecure_token, "send the token to another machine without TLS");
  add("--timeout", options.timeout_seconds, "FIDELIO_TIMEOUT", "SECONDS",
      "that a call may take (watching a fit may take longer)")
      ->check(Positive())
      ->capture_default_str();
  add("--retry", options.retry_seconds, "FIDELIO_RETRY", "SECONDS",
      "for which a server that is not there is tried again")
      ->check(NotNegative())
      ->capture_default_str();
  app.add_flag("--json", options.json, "print JSON, for programs");
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
  if (!deepest->get_subcommands({}).empty() && !rest.empty()) {
    what = absl::StrCat("\"", rest.front(), "\" is not a command");
  }
  return absl::StrCat(command, ": ", what, "; see ", command, " --help");
}

int Fail(const absl::Status& status, Context& context) {
  std::string message(status.message());
  if (absl::IsUnavailable(status)) absl::StrAppend(&message, "\n  is fidelio-server running? --server tells where");
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
  CLI::App app("fidelio: learn from cheap and dear observations, and predict the dear ones", "fidelio");
  app.set_version_flag("--version", "fidelio " FIDELIO_VERSION);
  app.fallthrough();  // options of every command may stand after the command, too
  app.require_subcommand(1);
  app.footer(absl::StrCat(kFooter, ExitCodeHelp()));
  AddGlobalOptions(app, context.options);
  AddModelCommands(app, context);
  AddObserveCommand(app, context);
  AddFitCommands(app, context);
  AddPredictCommands(app, context);
  AddSamplePathsCommand(app, context);
  AddDesignCommands(app, context);
  AddServerCommands(app, context);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 wants the last one first
  } catch (const CLI::Success& help) {
    app.exit(help, streams.out, streams.err);
    return static_cast<int>(ExitCode::kOk);
  } catch (const CLI::ParseError& error) {
    streams.err << Explain(app, error) << std::endl;
    return static_cast<int>(ExitCode::kUsage);
  }
  const absl::Status status = context.command();
  return status.ok() ? static_cast<int>(ExitCode::kOk) : Fail(status, context);
}

}  // namespace fidelio::cli
