// StageSearch: learns the hyperparameters of a BaselineModel, stage by stage:
//
//   1. optimise    L-BFGS from several starts per form: a little from each, then the best few to their ends
//   2. curvature   Hessians at the distinct modes; they give each mode's evidence (Laplace) Z
//   3. sample      HMC chains from the modes that matter, at least two each, whitened by their Hessians
//
// A stage's result is a set of draws; those of mode m share a weight ∝ Z_m^(1/temperature), which is √Z_m. With few observations the data leave
// much open, and one point of hyperparameters alone is far too sure of itself.
//
// Deterministic for a seed, whatever the number of threads. Every finished piece of work is kept in a SearchState, which can be
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
#include "core/emulator/fit_options.h"
#include "core/optim/hmc.h"

namespace fidelio {

// How much work a stage does.
struct SearchSettings {
  int chains = 4;        // at least, and at least two per mode; 0: the best mode alone
  int modes = 4;         // that are sampled, at most
  int warmup = 24;       // transitions per chain
  int transitions = 48;  // kept per chain, before thinning
  int draws = 24;        // of all chains together, about
  int leapfrogs = 8;     // of a transition, at most
};

// Settings for a stage with this number of observations: with more of them there is less to average over, at a higher cost.
SearchSettings SettingsForStage(int64_t observations);

// A finished or running L-BFGS run.
struct SearchStart {
  StageForm form;
  Vector z;  // whitened
  double value = std::numeric_limits<double>::infinity();
  int rounds = 0;
  bool done = false;
};

// A mode of the posterior.
struct SearchMode {
  StageForm form;
  Vector z;
  double value = 0;         // −log posterior with a normalised prior
  Matrix hessian = {};      // empty until measured
  int failed_columns = 0;   // of it, which could not be measured: those of the prior stand in for them
  double log_evidence = 0;  // Laplace's
  double weight = 0;        // 0: dropped
};

struct SearchChain {
  int mode = 0;
  bool started = false;
  HmcState hmc;
  std::vector<Vector> trace;  // whitened, of every transition after warm-up
};

struct SearchState {
  std::vector<StageParameters> found;  // of the stages that are done
  double value = 0;                    // −log posterior of those, summed
  // Of the stage that is under way, each empty until it begins.
  std::vector<SearchStart> starts;
  bool screened = false;  // the starts that are not worth going on with are done
  std::vector<SearchMode> modes;
  std::vector<SearchChain> chains;

  double acceptance = 0;  // of HMC, summed over `transitions` of the stages that are done
  int64_t transitions = 0;
  FitReport sampled;  // how well the stages that are done were sampled: the worst of them
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
  std::optional<KernelFamily> kernel;  // absent: all, weighed by their evidence
  bool point_estimate = false;         // the best mode alone
  std::vector<StageParameters> warm;   // starts of each stage besides the prior's centre; empty: a cold start
  uint64_t seed = 0;
  int threads = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
  int64_t max_iterations = std::numeric_limits<int64_t>::max();
  FitObserver* observer = nullptr;
};

struct SearchResult {
  std::vector<StageParameters> stages;
  FitReport report;  // without the number of draws
};

// Runs `state` to its end. CANCELLED when the observer says so; `state` can then be continued. When max_seconds or
// max_iterations have passed, the best so far is returned.
absl::StatusOr<SearchResult> RunStageSearch(const SearchRequest& request, SharedSearchState& state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_STAGE_SEARCH_H_
