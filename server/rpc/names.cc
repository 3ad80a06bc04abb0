#include "server/rpc/names.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "server/status/errors.h"

namespace fidelio {
namespace {

constexpr size_t kMaxModelId = 63;
constexpr size_t kMaxRequestId = 64;
constexpr char kModelIdRule[] = "{model} = [a-z]([a-z0-9-]{0,61}[a-z0-9])?";

bool IsModelId(absl::string_view id) {
  const auto lower_or_digit = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); };
  return !id.empty() && id.size() <= kMaxModelId && absl::ascii_islower(id.front()) && lower_or_digit(id.back()) &&
         std::all_of(id.begin(), id.end(), [&](char c) { return lower_or_digit(c) || c == '-'; });
}

// A count from 1 as this file writes it, or 0.
int64_t ParseNumber(absl::string_view text) {
  int64_t number = 0;
  const bool canonical =
      !text.empty() && text.front() != '0' && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  return canonical && absl::SimpleAtoi(text, &number) ? number : 0;
}

absl::Status BadName(absl::string_view name, absl::string_view field, absl::string_view shape) {
  if (name.empty()) return absl::InvalidArgumentError(absl::StrCat(field, ": missing, must be ", shape));
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", Quoted(name), " is not ", shape));
}

// models/{model}/<collection>/{number}, described by `shape`.
absl::StatusOr<ChildName> ParseChildName(absl::string_view name, absl::string_view field, absl::string_view collection,
                                         absl::string_view shape) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, absl::MaxSplits('/', 4));
  if (parts.size() == 4 && parts[0] == "models" && IsModelId(parts[1]) && parts[2] == collection) {
    if (const int64_t number = ParseNumber(parts[3]); number > 0) return ChildName{std::string(parts[1]), number};
  }
  return BadName(name, field, absl::StrCat(shape, " with ", kModelIdRule, " and a number from 1 at the end"));
}

}  // namespace

absl::Status ValidateModelId(absl::string_view id, absl::string_view field) {
  return IsModelId(id) ? absl::OkStatus() : BadName(id, field, kModelIdRule);
}

absl::Status ValidateRequestId(absl::string_view id, absl::string_view field) {
  const bool known = std::all_of(id.begin(), id.end(),
                                 [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; });
  if (known && id.size() <= kMaxRequestId) return absl::OkStatus();
  return BadName(id, field, absl::StrCat("at most ", kMaxRequestId, " characters of [A-Za-z0-9_.-]"));
}

absl::StatusOr<std::string> ParseModelName(absl::string_view name, absl::string_view field) {
  absl::string_view id = name;
  if (absl::ConsumePrefix(&id, "models/") && IsModelId(id)) return std::string(id);
  return BadName(name, field, absl::StrCat("models/{model} with ", kModelIdRule));
}

absl::StatusOr<ChildName> ParseFitName(absl::string_view name, absl::string_view field) {
  return ParseChildName(name, field, "fits", "models/{model}/fits/{fit}");
}

absl::StatusOr<ChildName> ParseRevisionName(absl::string_view name, absl::string_view field) {
  return ParseChildName(name, field, "revisions", "models/{model}/revisions/{revision}");
}

absl::StatusOr<int64_t> ParseRevisionOf(absl::string_view model, absl::string_view name, absl::string_view field) {
  if (name.empty()) return 0;
  FIDELIO_ASSIGN_OR_RETURN(const ChildName revision, ParseRevisionName(name, field));
  if (revision.model != model) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", Quoted(name), " is a revision of another model, must be one of ", ModelName(model)));
  }
  return revision.number;
}

std::string ModelName(absl::string_view model) { return absl::StrCat("models/", model); }

std::string FitName(absl::string_view model, int64_t number) {
  return absl::StrCat("models/", model, "/fits/", number);
}

std::string RevisionName(absl::string_view model, int64_t number) {
  return absl::StrCat("models/", model, "/revisions/", number);
}

}  // namespace fidelio
