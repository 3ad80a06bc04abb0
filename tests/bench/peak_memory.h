// PeakMemoryMib: the most resident memory that this process has had, in MiB.
#ifndef FIDELIO_TESTS_BENCH_PEAK_MEMORY_H_
#define FIDELIO_TESTS_BENCH_PEAK_MEMORY_H_

#include <sys/resource.h>

namespace fidelio::bench {

inline double PeakMemoryMib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts KiB
}

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_PEAK_MEMORY_H_
