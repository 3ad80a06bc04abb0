// CallGate: lets calls in, counts them, and closes when the server shuts down.
//
// A stream stays open for as long as its client likes, so streams are limited by their kind: those that hold a thread,
// so that threads remain for other calls, and watches, which hold memory alone.
//
// Thread-safe.
#ifndef FIDELIO_SERVER_RPC_CALL_GATE_H_
#define FIDELIO_SERVER_RPC_CALL_GATE_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace fidelio {

class CallGate {
 public:
  enum class Kind { kUnary, kStream, kWatch };

  struct Limits {
    int64_t max_streams = 0;
    int64_t max_watches = 0;
  };

  // Says that a call waits for its client, which may take as long as it likes: AwaitDrained does not wait for such calls.
  class Waiting {
   public:
    explicit Waiting(CallGate* gate) : gate_(gate) { gate_->CountWaiting(1); }
    ~Waiting() { gate_->CountWaiting(-1); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    CallGate* const gate_;
  };

  explicit CallGate(const Limits& limits) : limits_(limits) {}

  // UNAVAILABLE once the gate is closed, RESOURCE_EXHAUSTED beyond a limit. Every OK needs one Leave.
  absl::Status Enter(Kind kind) ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave(Kind kind) ABSL_LOCKS_EXCLUDED(mutex_);

  // From now on Enter refuses. `retry_delay` is what callers are told.
  void Close(absl::Duration retry_delay) ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether the gate is closed: streams look now and then, and end.
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  absl::Status ClosedError() const ABSL_LOCKS_EXCLUDED(mutex_);

  int64_t calls() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until all unary calls have left. False when `deadline` passes before.
  bool AwaitUnary(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until all calls have left, but for those that wait for their clients. False when `deadline` passes before.
  bool AwaitDrained(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void CountWaiting(int64_t change) ABSL_LOCKS_EXCLUDED(mutex_);

  const Limits limits_;
  std::atomic<bool> closed_ = false;  // written under mutex_
  mutable absl::Mutex mutex_;
  absl::Duration retry_delay_ ABSL_GUARDED_BY(mutex_);
  int64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;  // of all kinds
  int64_t streams_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t watches_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_RPC_CALL_GATE_H_
