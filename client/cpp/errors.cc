#include "client/cpp/errors.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/rpc/error_details.pb.h"

namespace fidelio::client {
namespace {

// Under which the google.rpc.Status travels with an absl::Status.
constexpr char kPayload[] = "type.googleapis.com/google.rpc.Status";

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

// "field: description", or what of it there is.
std::string Sentence(absl::string_view subject, absl::string_view description) {
  return absl::StrCat(subject, subject.empty() || description.empty() ? "" : ": ", description);
}

class Renderer {
 public:
  explicit Renderer(const std::string& message) : text_(message) {}

  void Add(const google::protobuf::Any& any) {
    google::rpc::BadRequest bad_request;
    google::rpc::PreconditionFailure precondition;
    google::rpc::QuotaFailure quota;
    google::rpc::ResourceInfo resource;
    google::rpc::ErrorInfo info;
    google::rpc::RetryInfo retry;
    google::rpc::Help help;
    if (any.UnpackTo(&bad_request)) {
      for (const auto& violation : bad_request.field_violations()) {
        Line("", Sentence(violation.field(), violation.description()), violation.description());
      }
    } else if (any.UnpackTo(&precondition)) {
      for (const auto& violation : precondition.violations()) {
        Line("to do: ", violation.description(), violation.description());
      }
    } else if (any.UnpackTo(&quota)) {
      for (const auto& violation : quota.violations()) {
        Line("quota: ", Sentence(violation.subject(), violation.description()), violation.description());
      }
    } else if (any.UnpackTo(&resource)) {
      Line(absl::StrCat(resource.resource_type(), ": "), resource.resource_name(), resource.resource_name());
    } else if (any.UnpackTo(&info)) {
      std::vector<std::string> facts;
      for (const auto& [key, value] : info.metadata()) facts.push_back(absl::StrCat(key, " = ", value));
      std::sort(facts.begin(), facts.end());
      Line("reason: ", absl::StrCat(info.reason(), facts.empty() ? "" : ", ", absl::StrJoin(facts, ", ")),
           info.reason());
    } else if (any.UnpackTo(&retry)) {
      Line("try again in ", absl::FormatDuration(ToDuration(retry.retry_delay())), "");
    } else if (any.UnpackTo(&help)) {
      for (const auto& link : help.links()) Line("see ", Sentence(link.description(), link.url()), link.url());
    }
  }

  const std::string& text() const { return text_; }

 private:
  // Adds a line, unless the text tells `essence` already.
  void Line(absl::string_view label, absl::string_view content, absl::string_view essence) {
    if (content.empty() || (!essence.empty() && absl::StrContains(text_, essence))) return;
    absl::StrAppend(&text_, text_.empty() ? "" : "\n  ", label, content);
  }

  std::string text_;
};

}  // namespace

absl::Status ToStatus(const google::rpc::Status& status) {
  if (status.code() == 0) return absl::OkStatus();
  // Codes that this client does not know become UNKNOWN.
  const auto code = status.code() > 0 && status.code() <= 16 ? static_cast<absl::StatusCode>(status.code())
                                                             : absl::StatusCode::kUnknown;
  Renderer renderer(status.message());
  for (const google::protobuf::Any& detail : status.details()) renderer.Add(detail);
  absl::Status result(code, renderer.text());
  result.SetPayload(kPayload, absl::Cord(status.SerializeAsString()));
  return result;
}

absl::Status ToStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  google::rpc::Status message;
  // What does not parse, or speaks of another error, did not come from our server: proxies answer errors, too.
  if (status.error_details().empty() || !message.ParseFromString(status.error_details()) ||
      message.code() != static_cast<int>(status.error_code())) {
    message.Clear();
  }
  message.set_code(static_cast<int>(status.error_code()));
  if (message.message().empty()) message.set_message(status.error_message());
  return ToStatus(message);
}

google::rpc::Status DetailsOf(const absl::Status& status) {
  google::rpc::Status message;
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value() || !message.ParseFromString(std::string(*payload))) {
    message.Clear();
    message.set_code(static_cast<int>(status.code()));
    message.set_message(std::string(status.message()));
  }
  return message;
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  google::rpc::RetryInfo retry;
  const google::rpc::Status message = DetailsOf(status);
  for (const google::protobuf::Any& detail : message.details()) {
    if (detail.UnpackTo(&retry)) return ToDuration(retry.retry_delay());
  }
  return std::nullopt;
}

absl::Status WithMessage(const absl::Status& status, absl::string_view message) {
  if (status.ok()) return status;
  absl::Status result(status.code(), message);
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

}  // namespace fidelio::client
