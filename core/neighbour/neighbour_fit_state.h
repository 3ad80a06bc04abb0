// NeighbourFitState: how far a fit with neighbour layers has come. Every finished piece of work (a family's L-BFGS run at a level
// of the stack, a piece of a MomentFit) is in it; what follows depends on it, the data and the options alone.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_FIT_STATE_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_FIT_STATE_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/types.h"
#include "core/dgp/moments/moment_fit.h"
#include "core/emulator/fit_options.h"
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
  int64_t iterations = 0;                   // in the stack's levels, as the following
  int64_t evaluations = 0;
  double seconds = 0;
};

// A state that can be copied while a fit runs on it. Thread-safe.
class SharedNeighbourState {
 public:
  NeighbourFitState Copy() const {
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
  NeighbourFitState state_;  // guarded by mutex_
};

// What a fit takes from a warm start.
struct NeighbourWarmStart {
  std::vector<NeighbourLayer> layers;  // of the stack; none: no warm start
  std::vector<Recipe> recipes;         // of the levels above
  std::vector<MomentDraw> draws;
};

// Payloads of sealed bytes.
void WriteFitOptions(const FitOptions& options, ByteWriter& out);
FitOptions ReadFitOptions(ByteReader& in);
void Write(const NeighbourWarmStart& warm, ByteWriter& out);
NeighbourWarmStart ReadNeighbourWarmStart(ByteReader& in);
void Write(const NeighbourFitState& state, ByteWriter& out);
NeighbourFitState ReadNeighbourFitState(ByteReader& in);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_FIT_STATE_H_
