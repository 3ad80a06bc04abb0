// Search: explores a Target and returns draws of (structure, θ) to average over.
//
//   1. optimise    L-BFGS from the starts of every structure to the posterior's modes; of many starts, the best after a first round
//   2. curvature   Hessians at the distinct modes near the best; they give each mode's evidence (Laplace) Z
//   3. sample      HMC chains from the modes that matter, at least two each, whitened by their Hessians
// Draws of mode m share a weight ∝ Z_m^(1/temperature): not the posterior's, but a flatter one (√Z at temperature 2), which forgives
// the errors of Laplace's approximation. With few observations the data leave much open, and one point of hyperparameters alone is far
// too sure of itself.
//
// Whatever ends a search, the result has a draw of a structure that explains all levels: a mode with a weight but without draws stands
// in for them itself.
//
// Deterministic for a seed, whatever the number of threads, also when a budget of iterations ends it: starts and chains get
// equal shares of what the phases before them have left. (A budget of seconds cuts where it cuts.) Every finished piece of work (a
// round of L-BFGS, the Hessians, an HMC transition) is kept in a SearchState, which can be copied at any time and continued with
// the same result.
#ifndef FIDELIO_CORE_FIT_SEARCH_H_
#define FIDELIO_CORE_FIT_SEARCH_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/emulator/fit_options.h"
#include "core/fit/fit_budget.h"
#include "core/fit/search_settings.h"
#include "core/fit/search_state.h"
#include "core/fit/target.h"

namespace fidelio {

struct SearchRequest {
  const Target& target;
  SearchSettings settings;
  uint64_t seed = 0;
  int first_chain = 0;  // what its chains are numbered from: the numbers choose their random numbers
  int threads = 0;
  int64_t max_iterations = std::numeric_limits<int64_t>::max();  // of this search
  // For warm starts: besides these, each structure starts from the prior's centre alone.
  std::vector<SearchStart> extra_starts = {};
  bool only_extra_starts = false;  // nothing else is tried
};

struct SearchDraw {
  int structure = 0;
  double weight = 0;
  Vector theta;
};
// u32 structure, f64 weight, vector θ.
template <typename Bytes>
void Fields(Bytes& bytes, SearchDraw& draw) {
  bytes(draw.structure, draw.weight, draw.theta);
}

struct SearchResult {
  SearchDraw best;                // the best mode of all levels
  std::vector<SearchDraw> draws;  // weights sum to 1
  FitReport report;               // evaluations and seconds are the budget's; without the number of draws
  int64_t transitions = 0;        // of HMC after warm-up
};

// Runs `state` to its end. CANCELLED when the observer says so; `state` can then be continued. Out of budget, the best so far is
// returned; every start gets at least one iteration, if there is time.
absl::StatusOr<SearchResult> RunSearch(const SearchRequest& request, FitBudget& budget, SharedSearchState& state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_SEARCH_H_
