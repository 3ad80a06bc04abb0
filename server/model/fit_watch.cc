#include "server/model/fit_watch.h"

#include <utility>

namespace fidelio {

absl::StatusOr<std::optional<FitEvent>> FitWatch::Take() {
  if (cancelled_) return absl::CancelledError("the watch was cancelled");
  if (event_) {
    std::optional<FitEvent> taken = std::move(event_);
    event_.reset();
    if (taken->last) end_ = absl::OutOfRangeError("the fit has ended, and its last event was taken");
    return taken;
  }
  if (!end_.ok()) return end_;
  return std::nullopt;
}

absl::StatusOr<std::optional<FitEvent>> FitWatch::TryNext() {
  absl::MutexLock lock(&mutex_);
  return Take();
}

absl::StatusOr<std::optional<FitEvent>> FitWatch::Next(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return Ready() || cancelled_; };
  mutex_.AwaitWithDeadline(absl::Condition(&ready), deadline);
  return Take();
}

void FitWatch::Cancel() {
  absl::MutexLock notify(&notify_mutex_);
  absl::MutexLock lock(&mutex_);
  cancelled_ = true;
}

void FitWatch::Offer(FitEvent event) {
  {
    absl::MutexLock lock(&mutex_);
    // Publishers race: whatever arrives after the last event was there before it.
    if (cancelled_ || !end_.ok() || (event_ && event_->last)) return;
    event_ = std::move(event);
  }
  Notify();
}

void FitWatch::Fail(absl::Status status) {
  {
    absl::MutexLock lock(&mutex_);
    if (cancelled_ || !end_.ok() || (event_ && event_->last)) return;
    end_ = std::move(status);
  }
  Notify();
}

void FitWatch::Notify() {
  if (!on_ready_) return;
  absl::MutexLock notify(&notify_mutex_);
  {
    absl::MutexLock lock(&mutex_);
    if (cancelled_ || !Ready()) return;
  }
  on_ready_();
}

}  // namespace fidelio
