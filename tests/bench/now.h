// The time that benches measure with.
#ifndef FIDELIO_TESTS_BENCH_NOW_H_
#define FIDELIO_TESTS_BENCH_NOW_H_

#include <chrono>

namespace fidelio::bench {

// Seconds since some moment, by a clock that never goes back.
inline double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_NOW_H_
