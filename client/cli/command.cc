#include "client/cli/command.h"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/as_typed.h"
#include "client/cli/input.h"
#include "client/cli/output.h"
#include "client/cli/tables.h"
#include "client/cli/text.h"

namespace fidelio::cli {
namespace {

// The contents of the file that a flag names; empty without a name.
absl::StatusOr<std::string> ReadFlagFile(const char* flag, const std::string& path, bool pem, std::istream& in) {
  if (path.empty()) return std::string();
  auto text = ReadInput(path, in);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", text.status().message()));
  if (text->empty()) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", path, ": empty"));
  if (pem && !absl::StrContains(*text, "-----BEGIN ")) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": ", path, ": not a PEM file"));
  }
  return text;
}

CLI::Validator NumberThat(const char* rule, bool (*holds)(double)) {
  return CLI::Validator(
      [rule, holds](std::string& text) {
        double value = 0;
        return absl::SimpleAtod(text, &value) && std::isfinite(value) && holds(value)
                   ? std::string()
                   : absl::StrCat("\"", text, "\" is not a number ", rule);
      },
      "");
}

TypedNames ConnectNames(bool token_from_file) {
  return {{"server", "--server"},
          {"token", token_from_file ? "--token-file" : "FIDELIO_TOKEN"},
          {"tls_cert", "--client-cert"},
          {"tls_key", "--client-key"},
          {"timeout", "--timeout"}};
}

// Tells who looks that a server is waited for: ten silent seconds seem long.
std::function<void(const absl::Status&, absl::Duration)> SayOnce(Context& context) {
  if (context.streams.err_width == 0) return {};
  return [&context, said = false](const absl::Status& error, absl::Duration) mutable {
    if (said || !absl::IsUnavailable(error)) return;
    said = true;
    context.streams.err << "no response from " << context.options.server << ", trying for up to "
                        << DurationText(absl::Seconds(context.options.retry_seconds)) << " (--retry)" << std::endl;
  };
}

}  // namespace

CLI::Validator Positive() {
  return NumberThat("above 0", [](double value) { return value > 0; });
}

CLI::Validator ResourceNumber() {
  return CLI::Validator(
      [](std::string& text) {
        int64_t number = 0;
        return absl::StartsWith(text, "models/") || (absl::SimpleAtoi(text, &number) && number > 0)
                   ? std::string()
                   : absl::StrCat("\"", text, "\" is not a number from 1");
      },
      "");
}

CLI::Validator NotNegative() {
  return NumberThat("of at least 0", [](double value) { return value >= 0; });
}

absl::StatusOr<std::unique_ptr<client::Client>> Context::Connect(
    std::function<void(const absl::Status& error, absl::Duration delay)> on_retry,
    std::optional<absl::Duration> watch_patience) {
  client::ClientOptions client_options;
  client::ChannelOptions& channel = client_options.channel;
  channel.server = options.server;
  channel.tls = options.tls;
  channel.tls_server = options.tls_server_name;
  channel.insecure_token = options.insecure_token;
  struct File {
    const char* flag;
    const std::string& path;
    std::string& target;
  };
  for (const File& file :
       {File{"--token-file", options.token_file, channel.token}, File{"--tls-ca", options.tls_ca, channel.tls_ca},
        File{"--client-cert", options.tls_cert, channel.tls_cert},
        File{"--client-key", options.tls_key, channel.tls_key}}) {
    auto text = ReadFlagFile(file.flag, file.path, /*pem=*/&file.target != &channel.token, streams.in);
    if (!text.ok()) return text.status();
    file.target = *std::move(text);
  }
  if (const char* token = std::getenv("FIDELIO_TOKEN"); token != nullptr && options.token_file.empty()) {
    channel.token = token;
  }
  channel.token = std::string(absl::StripAsciiWhitespace(channel.token));
  client_options.timeout = absl::Seconds(options.timeout_seconds);
  client_options.retry.give_up_after = absl::Seconds(options.retry_seconds);
  client_options.retry.on_retry = on_retry ? std::move(on_retry) : SayOnce(*this);
  if (watch_patience) client_options.watch_give_up_after = *watch_patience;
  auto client = client::Client::Connect(client_options);
  if (!client.ok()) return AsTyped(client.status(), ConnectNames(/*token_from_file=*/!options.token_file.empty()));
  return client;
}

void Context::Print(const Json& json, const std::string& text) {
  if (options.json) {
    streams.out << json.dump(2) << std::endl;
  } else {
    streams.out << text << (text.empty() || absl::EndsWith(text, "\n") ? "" : "\n") << std::flush;
  }
}

absl::Status Context::Write(const std::string& output, const Json& json, const std::string& text) {
  const auto file = OutputFile::Open(output, streams.out);
  if (!file.ok()) return file.status();
  absl::Status status = (*file)->Write(options.json ? json.dump(2) + "\n" : text);
  status.Update((*file)->Commit());
  return status;
}

absl::StatusOr<std::optional<int>> Context::Level(const v1::Model& model, const std::string& text) const {
  if (text.empty()) return std::nullopt;
  const auto level = ParseLevel(model, text);
  if (!level.ok()) return absl::InvalidArgumentError(absl::StrCat("--level: ", level.status().message()));
  return *level;
}

void Context::Remark(const std::string& text) {
  if (!options.json) streams.err << text << std::endl;
}

void SetWords(Context& context, const CLI::Option* option, std::vector<std::string> words) {
  context.words[option] = std::move(words);
}

CLI::App* AddGroup(CLI::App& parent, const std::string& name, const std::string& description) {
  CLI::App* app = parent.add_subcommand(name, description);
  app->require_subcommand(1);
  app->footer(absl::StrCat("Every command explains itself: fidelio ", name,
                           " COMMAND --help\nOptions of all commands: fidelio --help"));
  return app;
}

CLI::App* AddCommand(CLI::App& parent, Context& context, const std::string& name, const std::string& description,
                     const std::string& examples, std::function<absl::Status()> command) {
  CLI::App* app = parent.add_subcommand(name, description);
  app->footer(absl::StrCat("Examples:\n", examples, "\nOptions of all commands: fidelio --help"));
  app->callback([&context, command = std::move(command)] { context.command = command; });
  return app;
}

}  // namespace fidelio::cli
