// FitWatch: follows one fit, from the state of now to its end.
//
// The first event is there at once and tells the state of now. Later events replace those that were not taken yet: a slow
// watcher loses events between, never the last one, in which the fit has ended.
//
// Thread-safe. Take events by Next (blocks) or by TryNext when `on_ready` said that there is one.
#ifndef FIDELIO_SERVER_MODEL_FIT_WATCH_H_
#define FIDELIO_SERVER_MODEL_FIT_WATCH_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/model/model_types.h"

namespace fidelio {

struct FitEvent {
  FitInfo fit = {};
  bool last = false;  // the fit has ended, and so has the watch
};

class FitWatch {
 public:
  // `on_ready` is called (from any thread, one call at a time) whenever an event or an error has become ready to take. It
  // must be quick, and must not destroy the watch or call the service; after Cancel has returned it is called no more.
  explicit FitWatch(std::function<void()> on_ready = {}) : on_ready_(std::move(on_ready)) {}

  // The newest event that was not taken yet; nothing when there is none. UNAVAILABLE once the service drains, unless an
  // event is left; CANCELLED after Cancel; OUT_OF_RANGE after the last event.
  absl::StatusOr<std::optional<FitEvent>> TryNext();

  // As TryNext, but waits for an event until `deadline`: nothing when that passes.
  absl::StatusOr<std::optional<FitEvent>> Next(absl::Time deadline);

  // Ends the watch: Next returns at once. Waits for a call of on_ready that is under way, so never call it from there.
  void Cancel();

  // Of the service: a new event, or an end without one.
  void Offer(FitEvent event);
  void Fail(absl::Status status);

 private:
  absl::StatusOr<std::optional<FitEvent>> Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Ready() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return event_.has_value() || !end_.ok(); }
  void Notify();

  absl::Mutex notify_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);  // held during on_ready_
  const std::function<void()> on_ready_;

  absl::Mutex mutex_;
  std::optional<FitEvent> event_ ABSL_GUARDED_BY(mutex_);
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // what Next answers when there is no event
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_FIT_WATCH_H_
