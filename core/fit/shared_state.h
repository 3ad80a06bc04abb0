// SharedState: the progress of a fit, which can be copied at any time while the fit runs on it. Thread-safe.
#ifndef FIDELIO_CORE_FIT_SHARED_STATE_H_
#define FIDELIO_CORE_FIT_SHARED_STATE_H_

#include <mutex>
#include <utility>

namespace fidelio {

template <typename State>
class SharedState {
 public:
  explicit SharedState(State state = {}) : state_(std::move(state)) {}

  State Copy() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return state_;
  }

  // Runs f(state) under the lock.
  template <typename F>
  auto With(F&& f) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return f(state_);
  }

 private:
  mutable std::mutex mutex_;
  State state_;  // guarded by mutex_
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_SHARED_STATE_H_
