// HealthProbe: asks a server for its health again and again, and watches its threads and its memory, in a thread of its
// own until it is destroyed.
//
// What counts is how long the server takes, on a machine whose processors also run the flood: the time from before the
// question is sent, or a connection for it opened, until the answer has reached the kernel on this side. When the probe's
// thread then gets a processor to read it is the flood's doing, and no server's: Report::max_own_delay says how long that
// took. For the same reason there is no gRPC on this side, which would need several turns of several threads.
//
// Thread-safe.
#ifndef FIDELIO_TESTS_BENCH_HEALTH_PROBE_H_
#define FIDELIO_TESTS_BENCH_HEALTH_PROBE_H_

#include <sys/types.h>

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
    int64_t failures = 0;          // not SERVING, or no answer within a second
    absl::Duration max_own_delay;  // from an answer's arrival until the probe read it
    int64_t max_threads = 0;
    int64_t max_resident_kib = 0;
  };

  // `server` is ready and outlives the probe, which uses its port and its id alone.
  explicit HealthProbe(const ServerProcess& server);
  ~HealthProbe();

  // What was seen since the last call, after at least `least` more answers (or a minute).
  Report Take(size_t least);

 private:
  void Loop();

  const int port_;
  const pid_t pid_;
  absl::Mutex mutex_;
  Report report_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_HEALTH_PROBE_H_
