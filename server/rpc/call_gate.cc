#include "server/rpc/call_gate.h"

#include "absl/strings/str_cat.h"
#include "server/status/errors.h"

namespace fidelio {

absl::Status CallGate::Enter(Kind kind) {
  absl::MutexLock lock(&mutex_);
  if (closed()) return DrainingError(retry_delay_);
  const auto full = [](absl::string_view what, int64_t open, int64_t most, absl::string_view remedy) {
    return ExhaustedError(absl::StrCat(what, ": ", open, " are open, and at most ", most, " may be; ", remedy),
                          absl::Seconds(1));
  };
  if (kind == Kind::kStream && streams_ >= limits_.max_streams) {
    return full("streams", streams_, limits_.max_streams, "close one, or let the server have more max_threads");
  }
  if (kind == Kind::kWatch && watches_ >= limits_.max_watches) {
    return full("watches", watches_, limits_.max_watches, "close one, or ask by GetFit now and then");
  }
  ++calls_;
  streams_ += kind == Kind::kStream;
  watches_ += kind == Kind::kWatch;
  return absl::OkStatus();
}

void CallGate::Leave(Kind kind) {
  absl::MutexLock lock(&mutex_);
  --calls_;
  streams_ -= kind == Kind::kStream;
  watches_ -= kind == Kind::kWatch;
}

void CallGate::CountWaiting(int64_t change) {
  absl::MutexLock lock(&mutex_);
  waiting_ += change;
}

void CallGate::Close(absl::Duration retry_delay) {
  absl::MutexLock lock(&mutex_);
  retry_delay_ = retry_delay;
  closed_.store(true, std::memory_order_release);
}

absl::Status CallGate::ClosedError() const {
  absl::MutexLock lock(&mutex_);
  return DrainingError(retry_delay_);
}

int64_t CallGate::calls() const {
  absl::MutexLock lock(&mutex_);
  return calls_;
}

bool CallGate::AwaitUnary(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto none = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return calls_ == streams_ + watches_; };
  return mutex_.AwaitWithDeadline(absl::Condition(&none), deadline);
}

bool CallGate::AwaitDrained(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto drained = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return calls_ == waiting_; };
  return mutex_.AwaitWithDeadline(absl::Condition(&drained), deadline);
}

}  // namespace fidelio
