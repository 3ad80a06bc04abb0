// Latencies: durations of calls, and the percentiles of them.
#ifndef FIDELIO_TESTS_BENCH_LATENCIES_H_
#define FIDELIO_TESTS_BENCH_LATENCIES_H_

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "absl/time/time.h"

namespace fidelio::bench {

class Latencies {
 public:
  void Add(absl::Duration duration) { microseconds_.push_back(absl::ToDoubleMicroseconds(duration)); }
  size_t size() const { return microseconds_.size(); }

  // The least duration, in microseconds, that at least a fraction p of all does not exceed; 0 < p ≤ 1. NaN without any.
  double Percentile(double p) const {
    if (microseconds_.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> sorted = microseconds_;
    const size_t above = static_cast<size_t>((1 - p) * static_cast<double>(sorted.size()));
    const size_t index = sorted.size() - 1 - std::min(above, sorted.size() - 1);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index), sorted.end());
    return sorted[index];
  }

 private:
  std::vector<double> microseconds_;
};

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_LATENCIES_H_
