// Periodic: a thread that calls a function again and again, and at once when asked to: for files that may have changed.
//
// Thread-safe. Calls of the function never overlap; none begins after the destructor has returned.
#ifndef FIDELIO_SERVER_AUTH_PERIODIC_H_
#define FIDELIO_SERVER_AUTH_PERIODIC_H_

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace fidelio {

class Periodic {
 public:
  // `forced` is true in calls that Trigger asked for.
  Periodic(absl::Duration period, std::function<void(bool forced)> function);
  ~Periodic();
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

  // Makes the thread call the function soon. What to do on SIGHUP (though not inside a signal handler).
  void Trigger() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  const absl::Duration period_;
  const std::function<void(bool forced)> function_;
  absl::Mutex mutex_;
  bool triggered_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last member: it uses all others
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_AUTH_PERIODIC_H_
