// Names of resources: models/{model}, models/{model}/fits/{fit}, models/{model}/revisions/{revision}.
//
// {model} is [a-z]([a-z0-9-]{0,61}[a-z0-9])?, {fit} and {revision} count from 1, in decimal without leading zeros:
// every resource has exactly one name. Errors are INVALID_ARGUMENT and begin with `field`, the path of the name in its
// request.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_RPC_NAMES_H_
#define FIDELIO_SERVER_RPC_NAMES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace fidelio {

// A fit or a revision of a model.
struct ChildName {
  std::string model;   // {model}, without "models/"
  int64_t number = 0;  // ≥ 1

  bool operator==(const ChildName&) const = default;
};

absl::Status ValidateModelId(absl::string_view id, absl::string_view field);

// Client-chosen: empty, or at most 64 characters of [A-Za-z0-9_.-].
absl::Status ValidateRequestId(absl::string_view id, absl::string_view field);

// The {model} of a model's name.
absl::StatusOr<std::string> ParseModelName(absl::string_view name, absl::string_view field);
absl::StatusOr<ChildName> ParseFitName(absl::string_view name, absl::string_view field);
absl::StatusOr<ChildName> ParseRevisionName(absl::string_view name, absl::string_view field);

// The number of a revision that must belong to `model`, as in PredictRequest; 0 for an empty name: the current one.
absl::StatusOr<int64_t> ParseRevisionOf(absl::string_view model, absl::string_view name, absl::string_view field);

std::string ModelName(absl::string_view model);
std::string FitName(absl::string_view model, int64_t number);
std::string RevisionName(absl::string_view model, int64_t number);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_NAMES_H_
