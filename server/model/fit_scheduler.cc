#include "server/model/fit_scheduler.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "server/model/thread_priority.h"

namespace fidelio {

FitScheduler::~FitScheduler() {
  Drain(absl::InfiniteFuture(), absl::CancelledError("the server has stopped")).IgnoreError();
}

void FitScheduler::Start(int workers, std::function<void(FitJob&)> run) {
  run_ = std::move(run);
  absl::MutexLock lock(&mutex_);
  for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { Work(); });
}

void FitScheduler::Add(Job job) {
  absl::MutexLock lock(&mutex_);
  jobs_[{job->model(), job->id()}] = job;
  queue_.push_back(std::move(job));
  Requeued();
}

FitScheduler::Job FitScheduler::Find(absl::string_view model, int64_t fit) const {
  absl::MutexLock lock(&mutex_);
  const auto found = jobs_.find({std::string(model), fit});
  return found == jobs_.end() ? nullptr : found->second;
}

void FitScheduler::Remove(const FitJob& job) {
  absl::MutexLock lock(&mutex_);
  const auto place =
      std::find_if(queue_.begin(), queue_.end(), [&](const Job& queued) { return queued.get() == &job; });
  if (place != queue_.end()) {
    jobs_.erase({job.model(), job.id()});
    queue_.erase(place);
    Requeued();
  }
  changed_.SignalAll();  // its worker may sleep
}

std::vector<FitScheduler::Job> FitScheduler::RemoveModel(int64_t uid) {
  absl::MutexLock lock(&mutex_);
  std::vector<Job> removed;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    if (at->second->uid() == uid) {
      removed.push_back(at->second);
      at = jobs_.erase(at);
    } else {
      ++at;
    }
  }
  queue_.remove_if([uid](const Job& job) { return job->uid() == uid; });
  Requeued();
  return removed;
}

int64_t FitScheduler::queued() const {
  absl::MutexLock lock(&mutex_);
  return static_cast<int64_t>(queue_.size());
}

int64_t FitScheduler::CountOf(absl::string_view owner) const {
  absl::MutexLock lock(&mutex_);
  return std::count_if(jobs_.begin(), jobs_.end(),
                       [&](const auto& job) { return job.second->owner() == owner && !job.second->ended(); });
}

void FitScheduler::Requeued() {
  int64_t position = 0;
  for (const Job& job : queue_) {
    if (job->Get().queue_position != position) {
      job->Update([position](FitInfo& info) { info.queue_position = position; });
    }
    ++position;
  }
  if (metrics_ != nullptr) {
    metrics_->SetFits(static_cast<int64_t>(queue_.size()), static_cast<int64_t>(busy_.size()));
  }
  changed_.SignalAll();
}

FitScheduler::Job FitScheduler::NextRunnable() {
  const auto place = std::find_if(queue_.begin(), queue_.end(), [this](const Job& job) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !busy_.contains(job->uid());
  });
  if (place == queue_.end()) return nullptr;
  Job job = *place;
  queue_.erase(place);
  busy_.insert(job->uid());
  job->Update([](FitInfo& info) { info.queue_position = 0; });
  Requeued();
  return job;
}

FitScheduler::Job FitScheduler::Take() {
  absl::MutexLock lock(&mutex_);
  while (!draining_) {
    if (Job job = NextRunnable(); job != nullptr) return job;
    changed_.Wait(&mutex_);
  }
  return nullptr;
}

void FitScheduler::Done(const Job& job) {
  absl::MutexLock lock(&mutex_);
  busy_.erase(job->uid());
  // After a deletion the name may be another job's already.
  const auto found = jobs_.find({job->model(), job->id()});
  if (found != jobs_.end() && found->second == job && job->ended()) jobs_.erase(found);
  Requeued();
}

void FitScheduler::Work() {
  LowerThreadPriority();
  while (const Job job = Take()) {
    run_(*job);
    Done(job);
  }
  absl::MutexLock lock(&mutex_);
  ++idle_;
  changed_.SignalAll();
}

void FitScheduler::Sleep(const FitJob& job, absl::Time time) {
  absl::MutexLock lock(&mutex_);
  while (!draining_ && !job.ended()) {
    if (changed_.WaitWithDeadline(&mutex_, time)) return;
  }
}

void FitScheduler::Stop() {
  absl::MutexLock lock(&mutex_);
  draining_ = true;
  changed_.SignalAll();
}

absl::Status FitScheduler::Drain(absl::Time deadline, const absl::Status& reason) {
  std::vector<std::thread> joined;
  std::vector<Job> left;
  absl::Status status;
  Stop();
  {
    absl::MutexLock lock(&mutex_);
    while (idle_ < static_cast<int>(workers_.size())) {
      if (changed_.WaitWithDeadline(&mutex_, deadline)) break;
    }
    const auto working = static_cast<int>(workers_.size()) - idle_;
    if (working > 0) {
      status = absl::DeadlineExceededError(
          absl::StrCat(working, " fits were still at work when the time to drain had passed"));
    } else {
      joined.swap(workers_);
      idle_ = 0;
    }
    for (const auto& [name, job] : jobs_) left.push_back(job);
  }
  for (std::thread& worker : joined) worker.join();
  for (const Job& job : left) job->FailWatches(reason);
  return status;
}

}  // namespace fidelio
