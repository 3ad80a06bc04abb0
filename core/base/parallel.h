// ParallelFor: runs body(0) … body(n−1) on up to `threads` threads (0: all cores) and joins them.
//
// Bodies must not throw and must write to disjoint places; which thread runs which index is not defined, so results
// must depend on the index alone.
#ifndef FIDELIO_CORE_BASE_PARALLEL_H_
#define FIDELIO_CORE_BASE_PARALLEL_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace fidelio {

inline int ResolveThreads(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

inline void ParallelFor(int n, int threads, const std::function<void(int)>& body) {
  const int workers = std::min(n, ResolveThreads(threads));
  if (workers <= 1) {
    for (int i = 0; i < n; ++i) body(i);
    return;
  }
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int i = next++; i < n; i = next++) body(i);
  };
  std::vector<std::thread> pool;
  for (int w = 1; w < workers; ++w) pool.emplace_back(work);
  work();
  for (std::thread& t : pool) t.join();
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_PARALLEL_H_
