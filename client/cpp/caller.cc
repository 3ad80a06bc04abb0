#include "client/cpp/caller.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace fidelio::client {
namespace {

// A server that accepts connections only to drop them is not flooded.
constexpr absl::Duration kShortestPause = absl::Milliseconds(20);

}  // namespace

Caller::Caller(const ClientOptions& options, std::shared_ptr<grpc::Channel> channel)
    : options_(options), channel_(std::move(channel)), stub_(v1::Emulator::NewStub(channel_)) {}

absl::Time Caller::Deadline(const CallOptions& call) const {
  return absl::Now() + call.timeout.value_or(options_.timeout);
}

void Caller::Prepare(grpc::ClientContext* context, absl::Time deadline) const {
  if (deadline != absl::InfiniteFuture()) context->set_deadline(absl::ToChronoTime(deadline));
  if (!options_.channel.token.empty()) {
    context->AddMetadata("authorization", absl::StrCat("Bearer ", options_.channel.token));
  }
}

void Caller::Pause(absl::Duration delay) const {
  const absl::Time end = absl::Now() + delay;
  // gRPC works on a connection only while someone waits for it: a thread that just sleeps would delay it by seconds.
  if (channel_->GetState(/*try_to_connect=*/true) != GRPC_CHANNEL_READY) {
    absl::SleepFor(std::min(delay, kShortestPause));
    channel_->WaitForConnected(absl::ToChronoTime(end));
    return;
  }
  absl::SleepFor(end - absl::Now());
}

absl::Status Caller::Explain(const absl::Status& status) const {
  if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return status;
  return WithMessage(status, absl::StrCat("server ", options_.channel.server, ": ", status.message()));
}

}  // namespace fidelio::client
