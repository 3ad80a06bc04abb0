// Errors of a server as absl::Status, with the google.rpc details both in words and for programs.
//
// The message begins with the server's message. Details that are not in it follow on separate lines:
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

// From the status of a call.
absl::Status ToStatus(const grpc::Status& status);

// From an error within a message, such as Fit.error.
absl::Status ToStatus(const google::rpc::Status& status);

// The message and details from which an error was made. No details for errors that did not come from a server.
google::rpc::Status DetailsOf(const absl::Status& status);

// RetryInfo of an error: after what time the server asks to be called again.
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

// The same error with its message changed; details stay.
absl::Status WithMessage(const absl::Status& status, absl::string_view message);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_ERRORS_H_
