// Errors in the user's terms: the server names fields of a request, the user typed flags.
#ifndef FIDELIO_CLIENT_CLI_AS_TYPED_H_
#define FIDELIO_CLIENT_CLI_AS_TYPED_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace fidelio::cli {

// (path of a field without its indices, what the user typed): ("model.fidelities[].cost", "--costs"). The first entry
// that equals or encloses the field counts.
using TypedNames = std::vector<std::pair<std::string, std::string>>;

// The same error with the field that begins its message replaced. An index is an entry, counted from 1:
// "model.fidelities[1].cost: -1, must be …" is "--costs, entry 2: -1, must be …". Safe from every thread.
absl::Status AsTyped(const absl::Status& status, const TypedNames& names);

// A message of the server, which speaks to all its clients, in words of the command line: names of resources as
// people say them ("models/wing/fits/3" is "fit 3 of model wing"), commands for calls. Safe from every thread.
std::string ForPeople(absl::string_view message);

}  // namespace fidelio::cli

#endif  // FIDELIO_CLIENT_CLI_AS_TYPED_H_
