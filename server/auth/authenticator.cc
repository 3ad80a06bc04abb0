#include "server/auth/authenticator.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/config/read_file.h"

namespace fidelio {
namespace {

absl::StatusOr<std::string> ReadTokens(const std::string& path) {
  absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (text.ok()) return text;
  return absl::InvalidArgumentError(absl::StrCat("tokens_file = \"", path, "\": ", text.status().message()));
}

}  // namespace

std::unique_ptr<Authenticator> Authenticator::Open() {
  return std::unique_ptr<Authenticator>(new Authenticator("", nullptr, nullptr));
}

absl::StatusOr<std::unique_ptr<Authenticator>> Authenticator::FromFile(const std::string& tokens_file, Logger* logger,
                                                                       Metrics* metrics) {
  auto authenticator = std::unique_ptr<Authenticator>(new Authenticator(tokens_file, logger, metrics));
  // Before the file is read: a change in between is seen at the next reload.
  const FileStamp stamp = StampOf(tokens_file);
  const absl::StatusOr<std::string> text = ReadTokens(tokens_file);
  if (!text.ok()) return text.status();
  absl::StatusOr<TokenTable> table = TokenTable::Parse(*text, tokens_file);
  if (!table.ok()) return table.status();
  absl::MutexLock reload_lock(&authenticator->reload_mutex_);
  authenticator->stamp_ = stamp;
  authenticator->Replace(*std::move(table));
  return authenticator;
}

absl::Status Authenticator::Reload(bool force) {
  if (!required()) return absl::OkStatus();
  absl::MutexLock reload_lock(&reload_mutex_);
  const FileStamp stamp = StampOf(tokens_file_);
  if (stamp == stamp_ && !unread_ && !force) return absl::OkStatus();
  stamp_ = stamp;
  const absl::StatusOr<std::string> text = ReadTokens(tokens_file_);
  unread_ = !text.ok();
  ParsedTokens parsed;
  if (text.ok()) {
    parsed = TokenTable::ParseLines(*text, tokens_file_);
  } else {
    parsed.problems = {std::string(text.status().message())};
  }
  const size_t tokens = parsed.table.size();
  Replace(std::move(parsed.table));
  Report(parsed.problems, tokens);
  if (!parsed.problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(parsed.problems, "\n"));
  logger_->Log(LogLevel::kInfo, "tokens reloaded", {{"file", tokens_file_}, {"tokens", tokens}});
  return absl::OkStatus();
}

void Authenticator::Report(const std::vector<std::string>& problems, size_t tokens) {
  if (problems == reported_) return;
  reported_ = problems;
  if (problems.empty()) return;
  if (metrics_ != nullptr) metrics_->RecordTokensFileError();
  for (const std::string& problem : problems) {
    logger_->Log(LogLevel::kError, "the tokens file is bad; only the tokens of its good lines are valid",
                 {{"problem", problem}, {"tokens", tokens}});
  }
}

void Authenticator::Replace(TokenTable table) {
  auto next = std::make_shared<const TokenTable>(std::move(table));
  absl::MutexLock lock(&mutex_);
  table_ = std::move(next);
}

std::optional<Quotas> Authenticator::QuotasOf(std::string_view name) const {
  if (!required()) return std::nullopt;
  const std::shared_ptr<const TokenTable> tokens = table();
  const Principal* const principal = tokens->FindName(name);
  if (principal == nullptr) return std::nullopt;
  return principal->quotas;
}

std::shared_ptr<const TokenTable> Authenticator::table() const {
  absl::MutexLock lock(&mutex_);
  return table_;
}

absl::StatusOr<Principal> Authenticator::Authenticate(std::string_view authorization) const {
  if (!required()) return Principal{.name = "anonymous", .role = Role::kAdmin};
  constexpr absl::string_view kBearer = "Bearer ";
  const absl::string_view value(authorization.data(), authorization.size());
  if (value.empty()) {
    return absl::UnauthenticatedError(
        "authorization: missing; this server needs the metadata authorization: Bearer TOKEN");
  }
  if (!absl::StartsWithIgnoreCase(value, kBearer)) {
    return absl::UnauthenticatedError("authorization: must be \"Bearer TOKEN\"");
  }
  const std::shared_ptr<const TokenTable> tokens = table();
  const Principal* const principal = tokens->Find(authorization.substr(kBearer.size()));
  if (principal == nullptr) return absl::UnauthenticatedError("authorization: the token is not known to this server");
  return *principal;
}

}  // namespace fidelio
