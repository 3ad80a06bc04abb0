#include "server/auth/periodic.h"

#include <utility>

namespace fidelio {

Periodic::Periodic(absl::Duration period, std::function<void(bool forced)> function)
    : period_(period), function_(std::move(function)), thread_([this] { Run(); }) {}

Periodic::~Periodic() {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }
  thread_.join();
}

void Periodic::Trigger() {
  absl::MutexLock lock(&mutex_);
  triggered_ = true;
}

void Periodic::Run() {
  while (true) {
    bool forced;
    {
      absl::MutexLock lock(&mutex_);
      const auto wake = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return triggered_ || stopped_; };
      mutex_.AwaitWithTimeout(absl::Condition(&wake), period_);
      if (stopped_) return;
      forced = std::exchange(triggered_, false);
    }
    function_(forced);
  }
}

}  // namespace fidelio
