#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>

namespace fidelio {

struct ThreadPool::Job {
  const int n;
  const std::function<void(int)>& body;
  std::atomic<int> next{0};

  void Work() noexcept {
    for (int i = next++; i < n; i = next++) body(i);
  }
};

thread_local ThreadPool* ThreadPool::current_ = nullptr;

ThreadPool::ThreadPool() {
  if (current_ == nullptr) current_ = this;
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  if (current_ == this) current_ = nullptr;
}

void ThreadPool::Run(Job& job, int helpers) {
  while (static_cast<int>(threads_.size()) < helpers) threads_.emplace_back(&ThreadPool::Serve, this);
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    wanted_ = helpers;
  }
  for (int h = 0; h < helpers; ++h) wake_.notify_one();
  current_ = nullptr;
  job.Work();
  current_ = this;
  // Threads that have not woken up by now are not waited for.
  std::unique_lock lock(mutex_);
  wanted_ = 0;
  done_.wait(lock, [&] { return working_ == 0; });
}

void ThreadPool::Serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || wanted_ > 0; });
    if (stopping_) return;
    --wanted_;
    ++working_;
    Job& job = *job_;
    lock.unlock();
    job.Work();
    lock.lock();
    if (--working_ == 0) done_.notify_one();
  }
}

int ResolveThreads(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ParallelFor(int n, int threads, const std::function<void(int)>& body) {
  const int workers = std::min(n, ResolveThreads(threads));
  if (workers <= 1) {
    for (int i = 0; i < n; ++i) body(i);
    return;
  }
  ThreadPool::Job job{n, body};
  ThreadPool own;  // does nothing where there is one
  ThreadPool::current_->Run(job, workers - 1);
}

}  // namespace fidelio
