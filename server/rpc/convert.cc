#include "server/rpc/convert.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace fidelio {

void ToMessage(absl::Time time, google::protobuf::Timestamp* message) {
  const int64_t nanos = absl::ToUnixNanos(time);
  const int64_t rest = ((nanos % 1'000'000'000) + 1'000'000'000) % 1'000'000'000;  // ≥ 0 before 1970, too
  message->set_seconds((nanos - rest) / 1'000'000'000);
  message->set_nanos(static_cast<int32_t>(rest));
}

void ToMessage(absl::Duration duration, google::protobuf::Duration* message) {
  const int64_t nanos = absl::ToInt64Nanoseconds(duration);
  message->set_seconds(nanos / 1'000'000'000);
  message->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
}

v1::Role ToMessage(Role role) {
  switch (role) {
    case Role::kReader:
      return v1::ROLE_READER;
    case Role::kWriter:
      return v1::ROLE_WRITER;
    case Role::kAdmin:
      break;
  }
  return v1::ROLE_ADMIN;
}

CallerQuotas ToCallerQuotas(const Quotas& quotas) {
  return {.max_models = quotas.max_models,
          .max_observations = quotas.max_observations,
          .max_concurrent_fits = quotas.max_concurrent_fits};
}

Caller ToCaller(const Principal& principal, bool authenticated) {
  Caller caller;
  if (authenticated) caller.name = principal.name;
  caller.quotas = ToCallerQuotas(principal.quotas);
  return caller;
}

absl::StatusOr<int> ToLevel(uint32_t level, absl::string_view field) {
  if (level > static_cast<uint32_t>(std::numeric_limits<int>::max())) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", level, ", but no model has more than ", kMaxLevels, " fidelities"));
  }
  return static_cast<int>(level);
}

}  // namespace fidelio
