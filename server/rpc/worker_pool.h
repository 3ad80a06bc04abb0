// WorkerPool: threads for calls that take long or wait for something.
//
// Threads are started when they are needed, up to a limit; then tasks queue, up to another limit. Tasks start in the
// order in which they came.
//
// Thread-safe. The destructor runs what is left and joins; nobody may post then.
#ifndef FIDELIO_SERVER_RPC_WORKER_POOL_H_
#define FIDELIO_SERVER_RPC_WORKER_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace fidelio {

class WorkerPool {
 public:
  struct Limits {
    int64_t max_threads = 1;
    int64_t max_queue = 0;  // tasks that wait for a thread
  };
  explicit WorkerPool(const Limits& limits) : limits_(limits) {}
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False, and the task never runs, when all threads are busy and the queue is full.
  bool Post(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mutex_);

  const Limits& limits() const { return limits_; }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  const Limits limits_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  int64_t idle_ ABSL_GUARDED_BY(mutex_) = 0;  // threads without a task
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_WORKER_POOL_H_
