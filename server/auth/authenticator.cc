#include "server/auth/authenticator.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/config/read_file.h"

namespace fidelio {
namespace {

absl::StatusOr<TokenTable> ReadTable(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("tokens_file = \"", path, "\": ", text.status().message()));
  }
  return TokenTable::Parse(*text, path);
}

}  // namespace

std::unique_ptr<Authenticator> Authenticator::Open() {
  return std::unique_ptr<Authenticator>(new Authenticator("", nullptr));
}

absl::StatusOr<std::unique_ptr<Authenticator>> Authenticator::FromFile(const std::string& tokens_file, Logger* logger) {
  auto authenticator = std::unique_ptr<Authenticator>(new Authenticator(tokens_file, logger));
  // Before the file is read: a change in between is seen at the next reload.
  const FileStamp stamp = StampOf(tokens_file);
  absl::StatusOr<TokenTable> table = ReadTable(tokens_file);
  if (!table.ok()) return table.status();
  absl::MutexLock reload_lock(&authenticator->reload_mutex_);
  absl::MutexLock lock(&authenticator->mutex_);
  authenticator->stamp_ = stamp;
  authenticator->table_ = std::make_shared<const TokenTable>(*std::move(table));
  return authenticator;
}

absl::Status Authenticator::Reload(bool force) {
  if (!required()) return absl::OkStatus();
  absl::MutexLock reload_lock(&reload_mutex_);
  const FileStamp stamp = StampOf(tokens_file_);
  if (stamp == stamp_ && !force) return absl::OkStatus();
  stamp_ = stamp;  // also of a bad file: it is logged once, not at every look
  absl::StatusOr<TokenTable> table = ReadTable(tokens_file_);
  if (!table.ok()) {
    for (const absl::string_view problem : absl::StrSplit(table.status().message(), '\n')) {
      logger_->Log(LogLevel::kError, "the new tokens file is bad; the old tokens stay valid",
                   {{"problem", std::string_view(problem.data(), problem.size())}});
    }
    return table.status();
  }
  logger_->Log(LogLevel::kInfo, "tokens reloaded", {{"file", tokens_file_}, {"tokens", table->size()}});
  absl::MutexLock lock(&mutex_);
  table_ = std::make_shared<const TokenTable>(*std::move(table));
  return absl::OkStatus();
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
