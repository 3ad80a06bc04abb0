// Authenticator: turns the authorization metadata of a call into a Principal.
//
// Tokens come from a file (token_table.h) that is read again when it changes. Revocation fails closed: of a bad new file,
// only the tokens of its good lines are valid, and of a file that is empty, gone or unreadable, none. Each problem is
// logged and counted. Without a file everybody is the admin "anonymous". Thread-safe; a call sees the old tokens or the
// new ones, never a mixture.
#ifndef FIDELIO_SERVER_AUTH_AUTHENTICATOR_H_
#define FIDELIO_SERVER_AUTH_AUTHENTICATOR_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/auth/file_stamp.h"
#include "server/auth/principal.h"
#include "server/auth/token_table.h"
#include "server/telemetry/logger.h"
#include "server/telemetry/metrics.h"

namespace fidelio {

class Authenticator {
 public:
  // Everybody may do everything.
  static std::unique_ptr<Authenticator> Open();
  // INVALID_ARGUMENT: all problems of the file. `logger` and `metrics` (may be null) must outlive the authenticator.
  static absl::StatusOr<std::unique_ptr<Authenticator>> FromFile(const std::string& tokens_file, Logger* logger,
                                                                 Metrics* metrics = nullptr);

  // `authorization` is the value of that metadata: "Bearer TOKEN". Empty: the call has none.
  // UNAUTHENTICATED says what is missing, and never repeats what was sent.
  absl::StatusOr<Principal> Authenticate(std::string_view authorization) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether calls need a token.
  bool required() const { return !tokens_file_.empty(); }

  // The quotas of the token with this name; nothing when there is no such token (any more).
  std::optional<Quotas> QuotasOf(std::string_view name) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Reads the file if it changed since it was read or could not be read, or with `force` in any case. To be called from
  // time to time. Returns the problems if the file is bad.
  absl::Status Reload(bool force = false) ABSL_LOCKS_EXCLUDED(mutex_, reload_mutex_);

 private:
  Authenticator(std::string tokens_file, Logger* logger, Metrics* metrics)
      : tokens_file_(std::move(tokens_file)), logger_(logger), metrics_(metrics) {}

  std::shared_ptr<const TokenTable> table() const ABSL_LOCKS_EXCLUDED(mutex_);
  void Replace(TokenTable table) ABSL_LOCKS_EXCLUDED(mutex_);
  // Logs and counts the problems, unless they are those of the last time.
  void Report(const std::vector<std::string>& problems, size_t tokens) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reload_mutex_);

  const std::string tokens_file_;  // empty: no tokens
  Logger* const logger_;
  Metrics* const metrics_;

  absl::Mutex reload_mutex_;                                               // taken before mutex_
  FileStamp stamp_ ABSL_GUARDED_BY(reload_mutex_);                         // of the file that was read last
  bool unread_ ABSL_GUARDED_BY(reload_mutex_) = false;                     // it could not be read: try again
  std::vector<std::string> reported_ ABSL_GUARDED_BY(reload_mutex_) = {};  // problems, so that each is logged once

  mutable absl::Mutex mutex_;
  std::shared_ptr<const TokenTable> table_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_AUTHENTICATOR_H_
