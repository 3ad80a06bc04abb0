#include "server/status/details.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace fidelio {
namespace {

constexpr char kResource[] = "fidelio/resource";
constexpr char kPrecondition[] = "fidelio/precondition";
constexpr char kQuota[] = "fidelio/quota";
constexpr char kReason[] = "fidelio/reason";
constexpr char kRetry[] = "fidelio/retry-milliseconds";

// A payload is its fields, one per line; escaping keeps the line breaks of fields apart from those between them.
absl::Status Attach(absl::Status status, absl::string_view url, const std::vector<std::string>& fields) {
  if (status.ok()) return status;
  std::string payload;
  for (const std::string& field : fields) absl::StrAppend(&payload, absl::CEscape(field), "\n");
  status.SetPayload(url, absl::Cord(payload));
  return status;
}

// The fields of a payload, or none when it is absent or not one of ours.
std::vector<std::string> Fields(const absl::Status& status, absl::string_view url, size_t at_least) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  if (!payload.has_value()) return {};
  std::vector<std::string> fields;
  const std::string text(*payload);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    std::string field;
    if (!absl::CUnescape(line, &field)) return {};
    fields.push_back(std::move(field));
  }
  fields.pop_back();  // what follows the last line break
  if (fields.size() < at_least) return {};
  return fields;
}

}  // namespace

absl::Status WithDetail(absl::Status status, const ResourceDetail& detail) {
  return Attach(std::move(status), kResource, {detail.type, detail.name});
}

absl::Status WithDetail(absl::Status status, const PreconditionDetail& detail) {
  return Attach(std::move(status), kPrecondition, {detail.type, detail.subject, detail.remedy});
}

absl::Status WithDetail(absl::Status status, const QuotaDetail& detail) {
  return Attach(std::move(status), kQuota, {detail.subject, detail.description});
}

absl::Status WithDetail(absl::Status status, const ReasonDetail& detail) {
  std::vector<std::string> fields = {detail.reason};
  for (const auto& [key, value] : detail.facts) {
    fields.push_back(key);
    fields.push_back(value);
  }
  return Attach(std::move(status), kReason, fields);
}

absl::Status WithRetryDelay(absl::Status status, absl::Duration delay) {
  return Attach(std::move(status), kRetry, {absl::StrCat(absl::ToInt64Milliseconds(delay))});
}

StatusDetails DetailsOf(const absl::Status& status) {
  StatusDetails details;
  if (const auto f = Fields(status, kResource, 2); !f.empty()) details.resource = ResourceDetail{f[0], f[1]};
  if (const auto f = Fields(status, kPrecondition, 3); !f.empty()) {
    details.precondition = PreconditionDetail{f[0], f[1], f[2]};
  }
  if (const auto f = Fields(status, kQuota, 2); !f.empty()) details.quota = QuotaDetail{f[0], f[1]};
  if (const auto f = Fields(status, kReason, 1); !f.empty()) {
    details.reason = ReasonDetail{f[0], {}};
    for (size_t i = 1; i + 1 < f.size(); i += 2) details.reason->facts[f[i]] = f[i + 1];
  }
  if (const auto f = Fields(status, kRetry, 1); !f.empty()) {
    if (int64_t milliseconds; absl::SimpleAtoi(f[0], &milliseconds) && milliseconds >= 0) {
      details.retry_delay = absl::Milliseconds(milliseconds);
    }
  }
  return details;
}

}  // namespace fidelio
