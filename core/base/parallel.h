// ParallelFor: runs body(0) … body(n−1) on up to `threads` threads (0: all cores), of which the caller is one.
//
// Bodies must not throw and must write to disjoint places; which thread runs which index is not defined, so results
// must depend on the index alone. Bodies may call ParallelFor.
#ifndef FIDELIO_CORE_BASE_PARALLEL_H_
#define FIDELIO_CORE_BASE_PARALLEL_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/export.h"

namespace fidelio {

FIDELIO_EXPORT int ResolveThreads(int threads);

FIDELIO_EXPORT void ParallelFor(int n, int threads, const std::function<void(int)>& body);

// ThreadPool: while it exists, all calls of ParallelFor by the thread that made it share their threads: for loops of
// short calls. The threads start when first needed, with the priority that the caller has then, and are joined at the
// end. Calls from within a body, by other threads, and without a pool start and join threads of their own. A pool
// within another one does nothing.
class ThreadPool {
 public:
  ThreadPool();
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  friend void ParallelFor(int, int, const std::function<void(int)>&);
  struct Job;

  // On the caller and `helpers` threads.
  void Run(Job& job, int helpers);
  void Serve();

  static thread_local ThreadPool* current_;  // of this thread; null while it is at work

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  // Guarded by mutex_:
  Job* job_ = nullptr;
  int wanted_ = 0;   // threads that may still join in
  int working_ = 0;  // threads that have
  bool stopping_ = false;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_PARALLEL_H_
