#include "client/cli/exit_code.h"

namespace fidelio::cli {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kInput;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return ExitCode::kConflict;
    case absl::StatusCode::kFailedPrecondition:
      return ExitCode::kPrecondition;
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return ExitCode::kNotAllowed;
    case absl::StatusCode::kResourceExhausted:
      return ExitCode::kExhausted;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kUnavailable;
    case absl::StatusCode::kDataLoss:
      return ExitCode::kDataLoss;
    default:
      return ExitCode::kFailure;
  }
}

std::string ExitCodeHelp() {
  return R"(Exit codes:
  0  done                          6  something has to be done first (as predict before a fit)
  1  a bug, here or in the server  7  no or wrong token, or not allowed
  2  wrong command line            8  queue, memory, disk or quota exhausted
  3  wrong value or file           9  no answer from the server in time
  4  no such model, fit, revision  10 stored data is damaged
  5  name taken, or changed        11 the watched fit failed or was cancelled
     by someone else meanwhile)";
}

}  // namespace fidelio::cli
