#include "server/model/fit_job.h"

#include <utility>

namespace fidelio {

bool MayBecome(FitState from, FitState to) {
  if (from == to) return !IsFinished(from);
  switch (from) {
    case FitState::kPending:
      return to == FitState::kRunning || to == FitState::kFailed || to == FitState::kCancelled;
    case FitState::kRunning:
      return IsFinished(to);
    default:
      return false;
  }
}

FitJob::FitJob(int64_t uid, std::string owner, FitInfo info)
    : uid_(uid),
      owner_(std::move(owner)),
      model_(info.model),
      id_(info.id),
      ended_(IsFinished(info.state)),
      info_(std::move(info)) {}

FitInfo FitJob::Get() const {
  absl::MutexLock lock(&mutex_);
  return info_;
}

void FitJob::Update(absl::FunctionRef<void(FitInfo&)> change) {
  absl::MutexLock lock(&mutex_);
  FitInfo changed = info_;
  change(changed);
  if (!MayBecome(info_.state, changed.state)) return;
  info_ = std::move(changed);
  const bool last = IsFinished(info_.state);
  ended_ = last;
  // Offered under the lock, so that every watch sees the events in their order.
  std::erase_if(watches_, [&](const std::weak_ptr<FitWatch>& held) {
    const std::shared_ptr<FitWatch> watch = held.lock();
    if (watch != nullptr) watch->Offer({info_, last});
    return watch == nullptr || last;
  });
}

void FitJob::Watch(const std::shared_ptr<FitWatch>& watch) {
  absl::MutexLock lock(&mutex_);
  const bool last = IsFinished(info_.state);
  watch->Offer({info_, last});
  if (!last) watches_.push_back(watch);
}

void FitJob::FailWatches(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  for (const std::weak_ptr<FitWatch>& held : watches_) {
    if (const std::shared_ptr<FitWatch> watch = held.lock(); watch != nullptr) watch->Fail(status);
  }
  watches_.clear();
}

}  // namespace fidelio
