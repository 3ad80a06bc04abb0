// FitBudget: what a fit may use, what it has used, and the observer that it tells.
//
// Seconds are checked here. Iterations are shared out by the fit beforehand (Share), so that its result does not depend on the
// number of threads; a fit of one thread asks HasIterations instead. Every fit makes its first evaluation: without it there
// is nothing to return.
//
// Thread-safe, but for Begin and SetPart, which come between the parts of a fit. The observer is called by one thread at a time; it
// may call used().
#ifndef FIDELIO_CORE_FIT_FIT_BUDGET_H_
#define FIDELIO_CORE_FIT_FIT_BUDGET_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "absl/status/status.h"
#include "core/emulator/fit_observer.h"
#include "core/emulator/fit_options.h"

namespace fidelio {

// What a fit has used. Part of its saved state.
struct FitWork {
  int64_t iterations = 0;
  int64_t evaluations = 0;
  double seconds = 0;
};

class FitBudget {
 public:
  // `used`: by the processes that ran the fit before.
  explicit FitBudget(const FitOptions& options, const FitWork& used = {})
      : max_seconds_(options.max_seconds), max_iterations_(options.max_iterations), used_(used) {}

  // Starts the clock; a fit that was cancelled goes on.
  void Begin(FitObserver* observer);

  // What follows moves the progress bar from `begin` by `share`, and adds its log posteriors to that of the parts before.
  void SetPart(double begin, double share, double log_posterior = 0);

  // Counts an iteration of so many evaluations, which was made, and tells the observer. False: stop.
  bool Tick(const char* phase, int evaluations, double log_posterior, double fraction);
  // The same for a fit that counts its evaluations itself, each an iteration; also false when these are used up.
  bool Reached(const char* phase, int64_t evaluations, double log_posterior, double fraction);

  bool cancelled() const { return cancelled_; }
  bool stopped() const { return cancelled_ || out_of_time_; }  // or out of time
  absl::Status CheckCancelled() const;

  int64_t max_iterations() const { return max_iterations_; }
  bool HasIterations() const;
  double seconds() const;  // until now
  FitWork used() const;    // until the last Tick

  // What the i-th of `count` pieces of work may use of `iterations`.
  static int64_t Share(int64_t iterations, int count, int i) {
    return iterations / count + (i < iterations % count ? 1 : 0);
  }

 private:
  bool Tell(const char* phase, double log_posterior, double fraction);

  const double max_seconds_;
  const int64_t max_iterations_;
  FitObserver* observer_ = nullptr;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double seconds_before_ = 0;  // begin_
  double part_begin_ = 0, part_share_ = 1, part_log_posterior_ = 0;
  std::atomic<bool> cancelled_ = false, out_of_time_ = false;

  std::mutex tell_mutex_;  // held while the observer is called; taken before the other
  double fraction_ = 0;    // guarded by tell_mutex_
  mutable std::mutex used_mutex_;
  FitWork used_;  // guarded by used_mutex_
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_FIT_BUDGET_H_
