// NeighbourFitState: how far a fit with neighbour layers has come. Every finished piece of work (a family's L-BFGS run at a level
// of the stack, a piece of a search) is in it; what follows depends on it, the data and the options alone.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_FIT_STATE_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_FIT_STATE_H_

#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/types.h"
#include "core/dgp/moments/moment_target.h"
#include "core/dgp/moments/recipe_bytes.h"
#include "core/fit/shared_state.h"
#include "core/neighbour/neighbour_stack.h"

namespace fidelio {

// A level of the stack.
struct NeighbourLevelState {
  struct Candidate {
    NeighbourLayer layer;
    double value = 0;  // of the objective
  };
  std::vector<Candidate> candidates;  // one per kernel family, in their order
  Vector metric;                      // 1/lengthscales, up to a factor, by which neighbours were found last
  int rounds = 0;                     // in which the best family was fitted again
  bool done = false;

  const Candidate& best() const;
  Candidate& best();
};

struct NeighbourFitState {
  std::vector<NeighbourLevelState> levels;  // as far as begun
  int64_t iterations = 0;                   // in them
};

using SharedNeighbourState = SharedState<NeighbourFitState>;

// What a fit takes from a warm start.
struct NeighbourWarmStart {
  std::vector<NeighbourLayer> layers;  // of the stack; none: no warm start
  std::vector<Recipe> recipes;         // of the levels above
  std::vector<MomentDraw> draws;
};

// As bytes (core/base/bytes.h).
template <typename Bytes>
void Fields(Bytes& bytes, NeighbourLevelState::Candidate& candidate) {
  bytes(candidate.layer, candidate.value);
}
template <typename Bytes>
void Fields(Bytes& bytes, NeighbourLevelState& level) {
  bytes(level.candidates, level.metric, level.rounds, level.done);
}
template <typename Bytes>
void Fields(Bytes& bytes, NeighbourFitState& state) {
  bytes(state.levels, state.iterations);
}
template <typename Bytes>
void Fields(Bytes& bytes, NeighbourWarmStart& warm) {
  bytes(warm.layers, warm.recipes, warm.draws);
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_FIT_STATE_H_
