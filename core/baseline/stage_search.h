// StageSearch: finds the hyperparameters of a BaselineModel, stage by stage: L-BFGS from several starts per kernel family, and
// the best of their ends.
//
// Deterministic for a seed, whatever the number of threads. Every finished round of L-BFGS is kept in a SearchState, which can be
// copied at any time and continued with the same result.
#ifndef FIDELIO_CORE_BASELINE_STAGE_SEARCH_H_
#define FIDELIO_CORE_BASELINE_STAGE_SEARCH_H_

#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/baseline/baseline_model.h"
#include "core/emulator/fit_observer.h"

namespace fidelio {

// A finished or running L-BFGS run.
struct SearchStart {
  KernelFamily family = KernelFamily::kRbf;
  Vector z;  // whitened
  double value = std::numeric_limits<double>::infinity();
  int rounds = 0;
  bool done = false;
};

struct SearchState {
  std::vector<StageParameters> found;  // of the stages that are done
  double value = 0;                    // −log posterior of those, summed
  std::vector<SearchStart> starts;     // of the stage that is under way; empty until it begins
  int64_t iterations = 0;
  int64_t evaluations = 0;
  double seconds = 0;  // spent before this state was taken
};

// A state that can be copied while a search runs on it. Thread-safe.
class SharedSearchState {
 public:
  explicit SharedSearchState(SearchState state = {}) : state_(std::move(state)) {}

  SearchState Copy() const {
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
  SearchState state_;  // guarded by mutex_
};

struct SearchRequest {
  const BaselineModel* model = nullptr;
  std::optional<KernelFamily> kernel;  // absent: the best of all
  std::vector<StageParameters> warm;   // starts of each stage besides the prior's centre; empty: a cold start
  uint64_t seed = 0;
  int threads = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
  int64_t max_iterations = std::numeric_limits<int64_t>::max();
  FitObserver* observer = nullptr;
};

struct SearchResult {
  std::vector<StageParameters> stages;
  double log_posterior = 0;
  int64_t evaluations = 0;
  double seconds = 0;
};

// Runs `state` to its end. CANCELLED when the observer says so; `state` can then be continued. When max_seconds or
// max_iterations have passed, the best so far is returned.
absl::StatusOr<SearchResult> RunStageSearch(const SearchRequest& request, SharedSearchState& state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_STAGE_SEARCH_H_
