// HealthProbe: asks a server for its health again and again, and watches its threads and its memory, in a thread of its
// own until it is destroyed.
//
// Thread-safe.
#ifndef FIDELIO_TESTS_BENCH_HEALTH_PROBE_H_
#define FIDELIO_TESTS_BENCH_HEALTH_PROBE_H_

#include <cstdint>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tests/bench/latencies.h"
#include "tests/process/server_process.h"

namespace fidelio::bench {

class HealthProbe {
 public:
  struct Report {
    Latencies latencies;
    int64_t failures = 0;  // not SERVING, or no answer within a second
    int64_t max_threads = 0;
    int64_t max_resident_kib = 0;
  };

  // `server` is ready and outlives the probe, which uses its address and its id alone.
  explicit HealthProbe(const ServerProcess& server);
  ~HealthProbe();

  // What was seen since the last call, after at least `least` more answers (or a minute).
  Report Take(size_t least);

 private:
  void Loop();

  const ServerProcess& server_;
  absl::Mutex mutex_;
  Report report_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_HEALTH_PROBE_H_
