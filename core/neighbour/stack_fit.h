// StackFit: learns the layers of a NeighbourStack, level by level, from 0 up to the highest large one.
//
// At each level, for each kernel family L-BFGS on Vecchia's likelihood of 2,000 conditionals from the prior's centre; for the best
// of them again, with neighbours in inputs divided by its lengthscales, until these stay. Deterministic for a seed, whatever
// the number of threads, unless a budget of seconds ends it.
#ifndef FIDELIO_CORE_NEIGHBOUR_STACK_FIT_H_
#define FIDELIO_CORE_NEIGHBOUR_STACK_FIT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/data/dataset.h"
#include "core/data/scaled_data.h"
#include "core/emulator/fit_options.h"
#include "core/fit/fit_budget.h"
#include "core/neighbour/neighbour_fit_state.h"
#include "core/neighbour/neighbour_stack.h"

namespace fidelio {

struct StackFitRequest {
  const Dataset& data;
  const Scaling& scaling;
  const FitOptions& options;
  const std::vector<NeighbourLayer>& warm;  // one per level of the stack, or none
  int neighbours = 0;
};

// Runs `state` to its end. CANCELLED when the observer says so; `state` can then be continued.
absl::StatusOr<std::unique_ptr<NeighbourStack>> FitStack(const StackFitRequest& request, FitBudget& budget,
                                                         SharedNeighbourState& state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_STACK_FIT_H_
