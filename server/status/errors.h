// Errors of the server: one constructor per row of the table of errors, with the details that the row asks for.
//
// Messages name what was wrong, with which value, and what would be right. Bad input has no constructor:
// absl::InvalidArgumentError with a message that begins with the path of the field (server/status/details.h).
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_STATUS_ERRORS_H_
#define FIDELIO_SERVER_STATUS_ERRORS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace fidelio {

// NOT_FOUND: `models/wing/fits/3: there is no such fit`. `type` is "model", "fit" or "revision".
absl::Status ResourceNotFoundError(absl::string_view type, absl::string_view name);

// ALREADY_EXISTS: `models/wing: a model with this name already exists`.
absl::Status ResourceExistsError(absl::string_view type, absl::string_view name);

// DATA_LOSS: `models/wing: <what>`, as in "checkpoint of revision 2 fails its SHA-256".
absl::Status DamagedResourceError(absl::string_view type, absl::string_view name, absl::string_view what);

// FAILED_PRECONDITION: `models/wing: <what>; <remedy>`, as in "has no revision yet" and "start a fit and wait for it".
// `type` in UPPER_SNAKE_CASE tells programs which precondition it was.
absl::Status PreconditionError(absl::string_view type, absl::string_view subject, absl::string_view what,
                               absl::string_view remedy);

// ABORTED: the etag of the request is not that of now.
absl::Status EtagMismatchError(absl::string_view name, absl::string_view given, absl::string_view current);

// ABORTED: `models/wing: <what>`, when a concurrent change won.
absl::Status ConcurrentChangeError(absl::string_view name, absl::string_view what);

// RESOURCE_EXHAUSTED that ends by itself, or when an operator acts: queue, memory, disk.
absl::Status ExhaustedError(absl::string_view message, absl::Duration retry_delay);

// RESOURCE_EXHAUSTED that waiting does not end: `<subject>: <description>`, as in "token:alice" and "10 models, and 10
// are allowed".
absl::Status QuotaExceededError(absl::string_view subject, absl::string_view description);

// UNAVAILABLE while the server shuts down.
absl::Status DrainingError(absl::Duration retry_delay);

// A user's text for messages and logs: in quotes, escaped, and cut to at most `max_bytes` of it with "…".
std::string Quoted(absl::string_view text, size_t max_bytes = 100);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STATUS_ERRORS_H_
