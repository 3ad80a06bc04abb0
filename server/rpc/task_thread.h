// TaskThread: one thread that runs tasks in the order in which they came.
//
// Thread-safe. The destructor runs what is left and joins; nobody may post then.
#ifndef FIDELIO_SERVER_RPC_TASK_THREAD_H_
#define FIDELIO_SERVER_RPC_TASK_THREAD_H_

#include <deque>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace fidelio {

class TaskThread {
 public:
  TaskThread();
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void Post(std::function<void()> task) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last member: it uses all others
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_TASK_THREAD_H_
