// Client::WatchFit: one stream after the other, until the fit has ended.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/client.h"

namespace fidelio::client {
namespace {

using OnEvent = std::function<void(const v1::Fit&)>;

// One stream. The last event goes to `last`.
absl::Status WatchOnce(const Caller& caller, const v1::WatchFitRequest& request, absl::Time deadline,
                       const OnEvent& on_event, Backoff* backoff, v1::Fit* last) {
  grpc::ClientContext context;
  caller.Prepare(&context, deadline);
  const auto stream = caller.stub().WatchFit(&context, request);
  v1::WatchFitResponse event;
  while (stream->Read(&event)) {
    backoff->Reset();
    *last = std::move(*event.mutable_fit());
    on_event(*last);
  }
  return ToStatus(stream->Finish());
}

}  // namespace

bool HasEnded(const v1::Fit& fit) {
  return fit.state() == v1::FIT_STATE_SUCCEEDED || fit.state() == v1::FIT_STATE_FAILED ||
         fit.state() == v1::FIT_STATE_CANCELLED;
}

absl::StatusOr<v1::Fit> Client::WatchFit(absl::string_view name, const OnEvent& on_event, const CallOptions& call) {
  v1::WatchFitRequest request;
  request.set_name(std::string(name));
  const absl::Time deadline = absl::Now() + call.timeout.value_or(absl::InfiniteDuration());
  const absl::Duration patience = caller_.options().watch_give_up_after;
  RetryPolicy policy = caller_.options().retry;
  policy.give_up_after = std::min(policy.give_up_after, patience);
  Backoff backoff(policy, [this](absl::Duration delay) { caller_.Pause(delay); });
  v1::Fit last;
  const OnEvent on_answer = [&](const v1::Fit& fit) {
    policy.give_up_after = patience;
    if (on_event) on_event(fit);
  };
  while (true) {
    const absl::Time renewal = absl::Now() + caller_.options().watch_renewal;
    absl::Status status = WatchOnce(caller_, request, std::min(deadline, renewal), on_answer, &backoff, &last);
    if (HasEnded(last)) return last;  // however the stream ended afterwards
    if (absl::IsDeadlineExceeded(status) && renewal < deadline) continue;
    // A server that shuts down cancels its streams, or ends them: its successor knows how the fit goes on.
    if (status.ok() || absl::IsCancelled(status)) {
      status = absl::UnavailableError(absl::StrCat(name, ": the server stopped telling before the fit had ended"));
    }
    if (!absl::IsUnavailable(status)) return caller_.Explain(status);
    if (!backoff.Wait(status, deadline)) return caller_.Explain(GaveUp(status, backoff));
  }
}

}  // namespace fidelio::client
