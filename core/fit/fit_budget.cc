#include "core/fit/fit_budget.h"

#include <algorithm>

namespace fidelio {
namespace {

constexpr int64_t kLeastIterations = 2;  // a budget ends no fit before

}  // namespace

void FitBudget::Begin(FitObserver* observer) {
  observer_ = observer;
  begin_ = std::chrono::steady_clock::now();
  seconds_before_ = used().seconds;
  cancelled_ = out_of_time_ = false;
  fraction_ = 0;
  SetPart(0, 1);
}

void FitBudget::SetPart(double begin, double share, double log_posterior) {
  part_begin_ = begin;
  part_share_ = share;
  part_log_posterior_ = log_posterior;
}

bool FitBudget::Tick(const char* phase, int evaluations, double log_posterior, double fraction) {
  const std::lock_guard<std::mutex> telling(tell_mutex_);
  {
    const std::lock_guard<std::mutex> lock(used_mutex_);
    ++used_.iterations;
    used_.evaluations += evaluations;
  }
  return Tell(phase, log_posterior, fraction);
}

bool FitBudget::Reached(const char* phase, int64_t evaluations, double log_posterior, double fraction) {
  const std::lock_guard<std::mutex> telling(tell_mutex_);
  {
    const std::lock_guard<std::mutex> lock(used_mutex_);
    used_.iterations = used_.evaluations = evaluations;
  }
  return Tell(phase, log_posterior, fraction) && HasIterations();
}

bool FitBudget::Tell(const char* phase, double log_posterior, double fraction) {
  FitProgress progress{.phase = phase, .log_posterior = part_log_posterior_ + log_posterior, .seconds = seconds()};
  {
    const std::lock_guard<std::mutex> lock(used_mutex_);
    used_.seconds = progress.seconds;
    progress.iteration = used_.iterations;
    progress.evaluations = used_.evaluations;
  }
  if (progress.seconds > max_seconds_ && progress.iteration >= kLeastIterations) out_of_time_ = true;
  progress.fraction = fraction_ = std::max(fraction_, part_begin_ + part_share_ * fraction);
  if (observer_ != nullptr && !cancelled_ && !observer_->OnProgress(progress)) cancelled_ = true;
  return !stopped();
}

absl::Status FitBudget::CheckCancelled() const {
  return cancelled_ ? absl::CancelledError("the fit was cancelled") : absl::OkStatus();
}

bool FitBudget::HasIterations() const {
  const std::lock_guard<std::mutex> lock(used_mutex_);
  return used_.iterations < std::max(kLeastIterations, max_iterations_);
}

double FitBudget::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

FitWork FitBudget::used() const {
  const std::lock_guard<std::mutex> lock(used_mutex_);
  return used_;
}

}  // namespace fidelio
