// When and how often a call is tried again: UNAVAILABLE means that nothing was answered, and that trying again may help.
#ifndef FIDELIO_CLIENT_CPP_RETRY_H_
#define FIDELIO_CLIENT_CPP_RETRY_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace fidelio::client {

struct RetryPolicy {
  // The first delay; each is `multiplier` times the one before, up to the longest, and shortened by up to half at random
  // (so that the clients of a server which comes back do not all call at once). A RetryInfo of the server that asks for
  // a longer delay is obeyed.
  absl::Duration first_delay = absl::Milliseconds(50);
  double multiplier = 2;
  absl::Duration longest_delay = absl::Seconds(2);

  // Time without an answer after which the last error stands. The deadline of the call holds anyway. 0: no retries.
  absl::Duration give_up_after = absl::InfiniteDuration();

  // Called before each delay, from the thread of the call; may be null.
  std::function<void(const absl::Status& error, absl::Duration delay)> on_retry = {};
};

// INVALID_ARGUMENT names the member and the rule.
absl::Status Validate(const RetryPolicy& policy);

// Waits for at most this long, and less when there is reason to believe that the next attempt will succeed.
using Pause = std::function<void(absl::Duration)>;

// Backoff: the delays between the attempts at one thing. Not thread-safe.
class Backoff {
 public:
  // `policy` outlives this.
  Backoff(const RetryPolicy& policy, Pause pause);

  // Waits before the next attempt after `error`, and answers true; or false at once when the wait would pass `deadline`
  // or the policy has given up.
  bool Wait(const absl::Status& error, absl::Time deadline);

  // An answer arrived: delays and patience begin anew.
  void Reset();

  int retries() const { return retries_; }  // since the beginning, or the last Reset
  absl::Time since() const { return since_; }

 private:
  const RetryPolicy& policy_;
  const Pause pause_;
  absl::Duration delay_;
  absl::Time since_;
  int retries_ = 0;
};

// The answer of `attempt`, called again while it is UNAVAILABLE. The last error tells how often and how long.
absl::Status Retry(const RetryPolicy& policy, const Pause& pause, absl::Time deadline,
                   absl::FunctionRef<absl::Status()> attempt);

// The error that stands after `backoff` gave up, with how often and how long was tried.
absl::Status GaveUp(const absl::Status& error, const Backoff& backoff);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_RETRY_H_
