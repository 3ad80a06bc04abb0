#include "client/cpp/retry.h"

#include <algorithm>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/errors.h"

namespace fidelio::client {

absl::Status Validate(const RetryPolicy& policy) {
  if (policy.first_delay <= absl::ZeroDuration() || policy.first_delay > policy.longest_delay) {
    return absl::InvalidArgumentError(absl::StrCat("retry.first_delay: ", absl::FormatDuration(policy.first_delay),
                                                   ", must be above 0 and at most longest_delay, ",
                                                   absl::FormatDuration(policy.longest_delay)));
  }
  if (!(policy.multiplier >= 1)) {
    return absl::InvalidArgumentError(absl::StrCat("retry.multiplier: ", policy.multiplier, ", must be at least 1"));
  }
  return absl::OkStatus();
}

Backoff::Backoff(const RetryPolicy& policy, Pause pause)
    : policy_(policy), pause_(std::move(pause)), delay_(policy.first_delay), since_(absl::Now()) {}

bool Backoff::Wait(const absl::Status& error, absl::Time deadline) {
  absl::BitGen random;
  absl::Duration delay = delay_ * absl::Uniform(absl::IntervalClosed, random, 0.5, 1.0);
  if (const auto asked = RetryDelayOf(error); asked.has_value()) delay = std::max(delay, *asked);
  const absl::Time next = absl::Now() + delay;
  if (next >= deadline || next - since_ > policy_.give_up_after) return false;
  if (policy_.on_retry) policy_.on_retry(error, delay);
  pause_(delay);
  delay_ = std::min(delay_ * policy_.multiplier, policy_.longest_delay);
  ++retries_;
  return true;
}

void Backoff::Reset() {
  delay_ = policy_.first_delay;
  since_ = absl::Now();
  retries_ = 0;
}

absl::Status GaveUp(const absl::Status& error, const Backoff& backoff) {
  if (backoff.retries() == 0) return error;
  const absl::Duration time = absl::Trunc(absl::Now() - backoff.since(), absl::Milliseconds(1));
  return WithMessage(error, absl::StrCat(error.message(), "\n  tried ", backoff.retries() + 1, " times in ",
                                         absl::FormatDuration(time)));
}

absl::Status Retry(const RetryPolicy& policy, const Pause& pause, absl::Time deadline,
                   absl::FunctionRef<absl::Status()> attempt) {
  Backoff backoff(policy, pause);
  while (true) {
    const absl::Status status = attempt();
    if (!absl::IsUnavailable(status)) return status;
    if (!backoff.Wait(status, deadline)) return GaveUp(status, backoff);
  }
}

}  // namespace fidelio::client
