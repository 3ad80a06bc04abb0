// Details of errors: facts for programs that travel with an absl::Status, so that the layers which find an error need
// not know how a call will answer it (server/rpc turns them into messages of google.rpc).
//
// They are payloads of the status, text under the URLs "fidelio/resource", "fidelio/precondition", …: they survive
// copies, and a status without them is as good as before. The constructors of server/status/errors.h attach what the
// table of errors asks for. INVALID_ARGUMENT needs no detail: its message begins with the path of the field,
// `observations[1].inputs: 7 columns, but model "wing" has input dimension 8`.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_STATUS_DETAILS_H_
#define FIDELIO_SERVER_STATUS_DETAILS_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace fidelio {

// The resource that is missing, there already, or damaged.
struct ResourceDetail {
  std::string type;  // "model", "fit", "revision"
  std::string name;  // "models/wing/fits/3"
};

// What a caller has to do before the call can succeed.
struct PreconditionDetail {
  std::string type;     // "NO_REVISION", "NO_DATA", …: UPPER_SNAKE_CASE
  std::string subject;  // what it is about, mostly a resource name
  std::string remedy;   // what to do next
};

// A limit of the caller that is used up; waiting does not help.
struct QuotaDetail {
  std::string subject;      // whose: "token:alice"
  std::string description;  // which, how much is used and how much is allowed
};

// The cause, for programs: UPPER_SNAKE_CASE, with facts.
struct ReasonDetail {
  std::string reason;  // "ETAG_MISMATCH"
  std::map<std::string, std::string> facts;
};

struct StatusDetails {
  std::optional<ResourceDetail> resource;
  std::optional<PreconditionDetail> precondition;
  std::optional<QuotaDetail> quota;
  std::optional<ReasonDetail> reason;
  std::optional<absl::Duration> retry_delay;  // ≥ 0: when to try again
};

// Attaches a detail to an error; one of each kind, the last one stays. An OK status stays as it is.
absl::Status WithDetail(absl::Status status, const ResourceDetail& detail);
absl::Status WithDetail(absl::Status status, const PreconditionDetail& detail);
absl::Status WithDetail(absl::Status status, const QuotaDetail& detail);
absl::Status WithDetail(absl::Status status, const ReasonDetail& detail);
absl::Status WithRetryDelay(absl::Status status, absl::Duration delay);

// What WithDetail and WithRetryDelay attached.
StatusDetails DetailsOf(const absl::Status& status);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_STATUS_DETAILS_H_
