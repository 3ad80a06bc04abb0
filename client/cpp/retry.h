// When and how often a call is retried: UNAVAILABLE means that there was no response, and that a retry may succeed.
#ifndef FIDELIO_CLIENT_CPP_RETRY_H_
#define FIDELIO_CLIENT_CPP_RETRY_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace fidelio::client {

struct RetryPolicy {
  // The first delay. Each is `multiplier` times the previous one, up to the longest, and shortened by up to half at random,
  // so that the clients of a restarted server do not all call at once. A longer delay in the server's RetryInfo is obeyed.
  absl::Duration first_delay = absl::Milliseconds(50);
  double multiplier = 2;
  absl::Duration longest_delay = absl::Seconds(2);

  // Time without a response after which the last error is returned. The deadline of the call also holds. 0: no retries.
  absl::Duration give_up_after = absl::InfiniteDuration();

  // Called before each delay, from the thread of the call; may be null.
  std::function<void(const absl::Status& error, absl::Duration delay)> on_retry = {};
};

// INVALID_ARGUMENT names the member and the rule.
absl::Status Validate(const RetryPolicy& policy);

// Waits for at most this long, or less if the next attempt is likely to succeed.
using Pause = std::function<void(absl::Duration)>;

// Backoff: the delays between the attempts of one call. Not thread-safe.
class Backoff {
 public:
  // `policy` outlives this.
  Backoff(const RetryPolicy& policy, Pause pause);

  // Waits before the next attempt after `error` and returns true. Returns false at once if the wait would exceed
  // `deadline` or the policy gives up.
  bool Wait(const absl::Status& error, absl::Time deadline);

  // Call when a response arrived: the delays and give_up_after restart.
  void Reset();

  int retries() const { return retries_; }  // since construction or the last Reset
  absl::Time since() const { return since_; }

 private:
  const RetryPolicy& policy_;
  const Pause pause_;
  absl::Duration delay_;
  absl::Time since_;
  int retries_ = 0;
};

// Calls `attempt` until it returns anything but UNAVAILABLE. The last error says how often and how long it was tried.
absl::Status Retry(const RetryPolicy& policy, const Pause& pause, absl::Time deadline,
                   absl::FunctionRef<absl::Status()> attempt);

// The error to return after `backoff` gave up, with the number of attempts and their duration.
absl::Status GaveUp(const absl::Status& error, const Backoff& backoff);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_RETRY_H_
