// Readiness: whether the server should be sent calls, and if not, why.
//
//   starting ─► ready ─► draining        any ─► failed
//
// Failed is final, and draining never becomes ready again. Thread-safe.
#ifndef FIDELIO_SERVER_TELEMETRY_READINESS_H_
#define FIDELIO_SERVER_TELEMETRY_READINESS_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace fidelio {

class Readiness {
 public:
  void SetReady() ABSL_LOCKS_EXCLUDED(mutex_);     // from starting
  void SetDraining() ABSL_LOCKS_EXCLUDED(mutex_);  // unless failed
  void SetFailed(const std::string& why) ABSL_LOCKS_EXCLUDED(mutex_);

  bool ready() const ABSL_LOCKS_EXCLUDED(mutex_);
  // "starting", "ready", "draining", or "failed: " and the first reason.
  std::string Describe() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  enum class State { kStarting, kReady, kDraining, kFailed };

  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kStarting;
  std::string why_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_TELEMETRY_READINESS_H_
