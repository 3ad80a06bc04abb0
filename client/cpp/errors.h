// Errors of a server as absl::Status, with the details of google.rpc in words and for programs.
//
// The message begins with the server's own. Details that it does not tell already follow in lines of their own:
//
//   observations[1].inputs: 7 columns, but model "wing" has input dimension 8
//   models/wing: has no revision yet
//     to do: start a fit and wait for it
//     try again in 1s
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CPP_ERRORS_H_
#define FIDELIO_CLIENT_CPP_ERRORS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"

namespace fidelio::client {

// The end of a call.
absl::Status ToStatus(const grpc::Status& status);

// An error within a message, as Fit.error.
absl::Status ToStatus(const google::rpc::Status& status);

// The message with all its details that an error was made from. Without details for errors that no server made.
google::rpc::Status DetailsOf(const absl::Status& status);

// RetryInfo of an error: when the server asks to be called again.
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

// The same error with its message changed; details stay.
absl::Status WithMessage(const absl::Status& status, absl::string_view message);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_ERRORS_H_
