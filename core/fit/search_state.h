// SearchState: how far a search has come. What follows depends on it and the request alone.
#ifndef FIDELIO_CORE_FIT_SEARCH_STATE_H_
#define FIDELIO_CORE_FIT_SEARCH_STATE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/types.h"
#include "core/fit/shared_state.h"
#include "core/optim/hmc.h"

namespace fidelio {

// A finished or running L-BFGS run.
struct SearchStart {
  int structure = 0;
  Vector z = {};                                           // whitened: its beginning, then the best so far
  double value = std::numeric_limits<double>::infinity();  // −log posterior
  int rounds = 0;                                          // finished
  int64_t iterations = 0;                                  // in them
  bool done = false;
};

// A mode of the posterior of one structure.
struct SearchMode {
  int structure = 0;
  Vector z = {};
  double value = 0;         // −log posterior with a normalised prior
  Matrix hessian = {};      // empty until measured
  int failed_columns = 0;   // of it, which could not be measured: those of the prior stand in for them
  double log_evidence = 0;  // Laplace's, known with the Hessian
  double weight = 0;        // 0: dropped
};

struct SearchChain {
  int mode = 0;
  bool started = false;
  HmcState hmc = {};
  std::vector<Vector> trace = {};  // whitened, of every transition after warm-up
};

struct SearchState {
  std::vector<SearchStart> starts;
  bool screened = false;            // the starts that are not worth following are done
  std::vector<SearchMode> modes;    // empty until the starts are done
  std::vector<SearchChain> chains;  // empty until the modes have weights
};

using SharedSearchState = SharedState<SearchState>;

// Iterations that a state's finished work has taken, the same whatever interrupted it.
int64_t IterationsOf(const SearchState& state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_SEARCH_STATE_H_
