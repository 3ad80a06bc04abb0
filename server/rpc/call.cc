#include "server/rpc/call.h"

#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/base/status_macros.h"
#include "server/rpc/errors.h"
#include "server/telemetry/call_log.h"

namespace fidelio {
namespace {

// Names in the log are cut anyway: no more than this is kept of what a client sends.
constexpr size_t kMaxLoggedName = 300;

// The value of the metadata "authorization"; empty when there is none. Two of them are as good as none: which one counts
// would be a matter of luck. Not asked for in vain: gRPC makes a map of all metadata for it.
std::string_view Authorization(const grpc::ServerContextBase& context) {
  const auto [begin, end] = context.client_metadata().equal_range("authorization");
  if (begin == end || std::next(begin) != end) return {};
  return {begin->second.data(), begin->second.size()};
}

}  // namespace

Call::Call(const CallEnvironment& environment, const Method& method, CallGate::Kind kind,
           grpc::ServerContextBase* context)
    : environment_(environment), method_(method), kind_(kind), context_(context), start_(absl::Now()) {}

Call::~Call() {
  if (ended_.has_value()) {
    environment_.metrics->RecordCall(method_.name, ended_->code(), seconds_, bytes_in_, bytes_out_);
    Log();
  }
  if (entered_) environment_.gate->Leave(kind_);
}

absl::Status Call::Admit() {
  FIDELIO_RETURN_IF_ERROR(environment_.gate->Enter(kind_));
  entered_ = true;
  const std::string_view authorization = authenticated() ? Authorization(*context_) : "";
  absl::StatusOr<Principal> principal = environment_.authenticator->Authenticate(authorization);
  if (!principal.ok()) return principal.status();
  principal_ = *std::move(principal);
  return Authorize(principal_, method_.role, method_.name, {});
}

absl::Status Call::AdmitModel(absl::string_view model) {
  return Authorize(principal_, method_.role, method_.name, std::string_view(model.data(), model.size()));
}

void Call::SetModel(absl::string_view name) {
  absl::ConsumePrefix(&name, "models/");
  model_ = std::string(name.substr(0, kMaxLoggedName));
}

void Call::CountReceived(const google::protobuf::MessageLite& message) {
  bytes_in_ += static_cast<int64_t>(message.ByteSizeLong());
}

void Call::CountSent(const google::protobuf::MessageLite& message) {
  bytes_out_ += static_cast<int64_t>(message.ByteSizeLong());
}

absl::Status Call::StopReason() const {
  if (!Stopped()) return absl::OkStatus();
  if (deadline() <= absl::Now()) {
    return absl::DeadlineExceededError(
        absl::StrCat("deadline: passed after ", absl::ToInt64Milliseconds(absl::Now() - start_), " ms of work"));
  }
  return absl::CancelledError("the client cancelled the call");
}

absl::Status Call::StreamStopReason() const {
  if (environment_.gate->closed()) return environment_.gate->ClosedError();
  return StopReason();
}

grpc::Status Call::End(absl::Status status) {
  seconds_ = absl::ToDoubleSeconds(absl::Now() - start_);
  ended_ = std::move(status);
  if (environment_.logger->Logs(CallLogLevel(ended_->code()))) peer_ = context_->peer();
  return ToGrpcStatus(*ended_);
}

void Call::Log() const {
  if (!environment_.logger->Logs(CallLogLevel(ended_->code()))) return;
  LogCall(*environment_.logger,
          {.method = method_.name,
           .model = model_,
           .code = ended_->code(),
           .error = std::string_view(ended_->message().data(), ended_->message().size()),
           .milliseconds = seconds_ * 1000,
           .bytes_in = bytes_in_,
           .bytes_out = bytes_out_,
           .token = environment_.authenticator->required() ? std::string_view(principal_.name) : "",
           .peer = peer_});
}

}  // namespace fidelio
