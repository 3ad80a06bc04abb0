// Exit codes of the command: one per class of error, so that scripts can tell them apart.
#ifndef FIDELIO_CLIENT_CLI_EXIT_CODE_H_
#define FIDELIO_CLIENT_CLI_EXIT_CODE_H_

#include <string>

#include "absl/status/status.h"

namespace fidelio::cli {

enum class ExitCode {
  kOk = 0,
  kFailure = 1,           // a bug: INTERNAL, UNKNOWN, UNIMPLEMENTED
  kUsage = 2,             // the command line
  kInput = 3,             // INVALID_ARGUMENT, OUT_OF_RANGE: a file or a value
  kNotFound = 4,          // NOT_FOUND
  kConflict = 5,          // ALREADY_EXISTS, ABORTED
  kPrecondition = 6,      // FAILED_PRECONDITION: something else has to be done first
  kNotAllowed = 7,        // UNAUTHENTICATED, PERMISSION_DENIED
  kExhausted = 8,         // RESOURCE_EXHAUSTED
  kUnavailable = 9,       // UNAVAILABLE, DEADLINE_EXCEEDED: no answer
  kDataLoss = 10,         // DATA_LOSS
  kFitNotSucceeded = 11,  // the fit that was watched failed or was cancelled
};

ExitCode ExitCodeOf(const absl::Status& status);

// The table above for --help.
std::string ExitCodeHelp();

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_EXIT_CODE_H_
