#include "server/telemetry/readiness.h"

#include "absl/strings/str_cat.h"

namespace fidelio {

void Readiness::SetReady() {
  absl::MutexLock lock(&mutex_);
  if (state_ == State::kStarting) state_ = State::kReady;
}

void Readiness::SetDraining() {
  absl::MutexLock lock(&mutex_);
  if (state_ != State::kFailed) state_ = State::kDraining;
}

void Readiness::SetFailed(const std::string& why) {
  absl::MutexLock lock(&mutex_);
  if (state_ == State::kFailed) return;
  state_ = State::kFailed;
  why_ = why;
}

bool Readiness::ready() const {
  absl::MutexLock lock(&mutex_);
  return state_ == State::kReady;
}

std::string Readiness::Describe() const {
  absl::MutexLock lock(&mutex_);
  switch (state_) {
    case State::kStarting:
      return "starting";
    case State::kReady:
      return "ready";
    case State::kDraining:
      return "draining";
    case State::kFailed:
      break;
  }
  return absl::StrCat("failed: ", why_);
}

}  // namespace fidelio
