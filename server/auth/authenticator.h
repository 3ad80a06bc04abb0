// Authenticator: turns the authorization metadata of a call into a Principal.
//
// Tokens come from a file (token_table.h) that is read again when it changes; a bad new file is logged and the old tokens
// stay valid. Without a file everybody is the admin "anonymous". Thread-safe; a call sees the old tokens or the new ones,
// never a mixture.
#ifndef FIDELIO_SERVER_AUTH_AUTHENTICATOR_H_
#define FIDELIO_SERVER_AUTH_AUTHENTICATOR_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/auth/file_stamp.h"
#include "server/auth/principal.h"
#include "server/auth/token_table.h"
#include "server/telemetry/logger.h"

namespace fidelio {

class Authenticator {
 public:
  // Everybody may do everything.
  static std::unique_ptr<Authenticator> Open();
  // INVALID_ARGUMENT: all problems of the file. `logger` must outlive the authenticator.
  static absl::StatusOr<std::unique_ptr<Authenticator>> FromFile(const std::string& tokens_file, Logger* logger);

  // `authorization` is the value of that metadata: "Bearer TOKEN". Empty: the call has none.
  // UNAUTHENTICATED says what is missing, and never repeats what was sent.
  absl::StatusOr<Principal> Authenticate(std::string_view authorization) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether calls need a token.
  bool required() const { return !tokens_file_.empty(); }

  // Reads the file if it changed since it was read, or with `force` in any case. To be called from time to time.
  // Returns what was logged if the new file is bad.
  absl::Status Reload(bool force = false) ABSL_LOCKS_EXCLUDED(mutex_, reload_mutex_);

 private:
  Authenticator(std::string tokens_file, Logger* logger) : tokens_file_(std::move(tokens_file)), logger_(logger) {}

  std::shared_ptr<const TokenTable> table() const ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string tokens_file_;  // empty: no tokens
  Logger* const logger_;

  absl::Mutex reload_mutex_;  // taken before mutex_
  FileStamp stamp_ ABSL_GUARDED_BY(reload_mutex_);

  mutable absl::Mutex mutex_;
  std::shared_ptr<const TokenTable> table_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_AUTHENTICATOR_H_
