#include "server/rpc/errors.h"

#include <cstdint>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "google/rpc/error_details.pb.h"
#include "server/rpc/text.h"
#include "server/status/details.h"

namespace fidelio {
namespace {

constexpr size_t kMaxNameBytes = 200;

struct Split {
  absl::string_view subject;  // empty when the message does not begin with one
  absl::string_view rest;
};

// Splits "observations[1].inputs: 7 columns" at the first ": " when only characters of a path come before it.
Split SplitMessage(absl::string_view message) {
  const size_t colon = message.find(": ");
  if (colon == absl::string_view::npos || colon == 0) return {"", message};
  for (const char c : message.substr(0, colon)) {
    if (!absl::ascii_isalnum(c) && !absl::StrContains("_.-/[],\"", absl::string_view(&c, 1))) return {"", message};
  }
  return {message.substr(0, colon), message.substr(colon + 2)};
}

// "fit" for models/wing/fits/3.
absl::string_view TypeOfResource(absl::string_view name) {
  if (absl::StrContains(name, "/fits/")) return "fit";
  if (absl::StrContains(name, "/revisions/")) return "revision";
  return "model";
}

void AddBadRequest(const absl::Status& status, google::rpc::Status* answer) {
  const Split split = SplitMessage(status.message());
  google::rpc::BadRequest detail;
  auto* violation = detail.add_field_violations();
  violation->set_field(SafeText(split.subject, kMaxNameBytes));
  violation->set_description(SafeText(split.rest, kMaxMessageBytes));
  answer->add_details()->PackFrom(detail);
}

void AddResource(const absl::Status& status, const StatusDetails& details, google::rpc::Status* answer) {
  const Split split = SplitMessage(status.message());
  google::rpc::ResourceInfo info;
  if (details.resource.has_value()) {
    info.set_resource_type(SafeText(details.resource->type, kMaxNameBytes));
    info.set_resource_name(SafeText(details.resource->name, kMaxNameBytes));
  } else if (absl::StartsWith(split.subject, "models/")) {
    const absl::string_view type = TypeOfResource(split.subject);
    info.set_resource_type(type.data(), type.size());
    info.set_resource_name(SafeText(split.subject, kMaxNameBytes));
  } else {
    return;
  }
  info.set_description(SafeText(split.rest, kMaxMessageBytes));
  answer->add_details()->PackFrom(info);
}

void AddPrecondition(const absl::Status& status, const StatusDetails& details, google::rpc::Status* answer) {
  google::rpc::PreconditionFailure failure;
  auto* violation = failure.add_violations();
  if (details.precondition.has_value()) {
    violation->set_type(SafeText(details.precondition->type, kMaxNameBytes));
    violation->set_subject(SafeText(details.precondition->subject, kMaxNameBytes));
    violation->set_description(SafeText(details.precondition->remedy, kMaxMessageBytes));
  } else {
    const Split split = SplitMessage(status.message());
    violation->set_type("STATE");
    violation->set_subject(SafeText(split.subject, kMaxNameBytes));
    violation->set_description(SafeText(split.rest, kMaxMessageBytes));
  }
  answer->add_details()->PackFrom(failure);
}

void AddQuota(const QuotaDetail& detail, google::rpc::Status* answer) {
  google::rpc::QuotaFailure failure;
  auto* violation = failure.add_violations();
  violation->set_subject(SafeText(detail.subject, kMaxNameBytes));
  violation->set_description(SafeText(detail.description, kMaxMessageBytes));
  answer->add_details()->PackFrom(failure);
}

void AddReason(const ReasonDetail& detail, google::rpc::Status* answer) {
  google::rpc::ErrorInfo info;
  info.set_reason(SafeText(detail.reason, kMaxNameBytes));
  info.set_domain(kErrorDomain);
  for (const auto& [key, value] : detail.facts) {
    (*info.mutable_metadata())[SafeText(key, kMaxNameBytes)] = SafeText(value, kMaxNameBytes);
  }
  answer->add_details()->PackFrom(info);
}

void AddRetry(absl::Duration delay, google::rpc::Status* answer) {
  google::rpc::RetryInfo info;
  const int64_t milliseconds = absl::ToInt64Milliseconds(delay);
  info.mutable_retry_delay()->set_seconds(milliseconds / 1000);
  info.mutable_retry_delay()->set_nanos(static_cast<int32_t>(milliseconds % 1000 * 1'000'000));
  answer->add_details()->PackFrom(info);
}

}  // namespace

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  google::rpc::Status answer;
  answer.set_code(static_cast<int32_t>(status.code()));  // absl's codes are those of gRPC
  if (status.ok()) return answer;
  answer.set_message(SafeText(status.message(), kMaxMessageBytes));

  StatusDetails details = DetailsOf(status);
  switch (status.code()) {
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return answer;
    case absl::StatusCode::kInvalidArgument:
      AddBadRequest(status, &answer);
      break;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kDataLoss:
      AddResource(status, details, &answer);
      break;
    case absl::StatusCode::kFailedPrecondition:
      AddPrecondition(status, details, &answer);
      break;
    case absl::StatusCode::kAborted:
      if (!details.reason.has_value()) details.reason = ReasonDetail{"CONCURRENT_CHANGE", {}};
      break;
    case absl::StatusCode::kResourceExhausted:
      if (details.quota.has_value()) {
        AddQuota(*details.quota, &answer);
      } else if (!details.retry_delay.has_value()) {
        details.retry_delay = kDefaultRetryDelay;
      }
      break;
    case absl::StatusCode::kUnavailable:
      if (!details.retry_delay.has_value()) details.retry_delay = kDefaultRetryDelay;
      break;
    default:
      break;
  }
  if (details.reason.has_value()) AddReason(*details.reason, &answer);
  if (details.retry_delay.has_value()) AddRetry(*details.retry_delay, &answer);
  return answer;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status answer = ToRpcStatus(status);
  return grpc::Status(static_cast<grpc::StatusCode>(answer.code()), answer.message(), answer.SerializeAsString());
}

}  // namespace fidelio
