#include "client/cpp/caller.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace fidelio::client {

Caller::Caller(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel)
    : options_(options), stub_(v1::Emulator::NewStub(std::move(channel))) {}

absl::Time Caller::Deadline(const CallOptions& call) const {
  return absl::Now() + call.timeout.value_or(options_.timeout);
}

void Caller::Prepare(grpc::ClientContext* context, absl::Time deadline) const {
  if (deadline != absl::InfiniteFuture()) context->set_deadline(absl::ToChronoTime(deadline));
  if (!options_.channel.token.empty()) {
    context->AddMetadata("authorization", absl::StrCat("Bearer ", options_.channel.token));
  }
}

absl::Status Caller::Explain(const absl::Status& status) const {
  if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return status;
  return WithMessage(status, absl::StrCat("server ", options_.channel.server, ": ", status.message()));
}

}  // namespace fidelio::client
