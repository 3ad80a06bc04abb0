#include "server/rpc/worker_pool.h"

#include <utility>

namespace fidelio {

WorkerPool::~WorkerPool() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

bool WorkerPool::Post(std::function<void()> task) {
  absl::MutexLock lock(&mutex_);
  const int64_t waiting = static_cast<int64_t>(tasks_.size());
  if (waiting >= idle_) {  // every idle thread has a task already
    if (static_cast<int64_t>(threads_.size()) < limits_.max_threads) {
      ++idle_;
      threads_.emplace_back([this] { Run(); });
    } else if (waiting - idle_ >= limits_.max_queue) {
      return false;
    }
  }
  tasks_.push_back(std::move(task));
  return true;
}

void WorkerPool::Run() {
  const auto wake = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopped_ || !tasks_.empty(); };
  while (true) {
    std::function<void()> task;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&wake));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      --idle_;
    }
    task();
    absl::MutexLock lock(&mutex_);
    ++idle_;
  }
}

}  // namespace fidelio
