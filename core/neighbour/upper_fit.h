// UpperFit: learns the levels above a NeighbourStack, by the search of MF_DGP (core/fit/search.h).
//
// Up to 300 observations predictions average HMC draws of the hyperparameters. With more, the kernel families and starts are found on 300 of
// them (a sketch), and the best are followed to their modes on all, which are averaged by StackingWeights.
#ifndef FIDELIO_CORE_NEIGHBOUR_UPPER_FIT_H_
#define FIDELIO_CORE_NEIGHBOUR_UPPER_FIT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/dgp/moments/moment_target.h"
#include "core/emulator/fit_options.h"
#include "core/fit/fit_budget.h"
#include "core/fit/search_state.h"
#include "core/neighbour/neighbour_fit_state.h"
#include "core/neighbour/upper_points.h"

namespace fidelio {

struct UpperFitRequest {
  const NeighbourStack& stack;  // complete
  const Dataset& data;
  const Scaling& scaling;
  const FitOptions& options;
  const NeighbourWarmStart& warm;
  int64_t iterations = 0;  // of the budget, which the stack has used
};

struct UpperFitResult {
  std::vector<Recipe> recipes;
  std::vector<MomentDraw> draws;
  FitReport report;
};

// Runs the states to their ends. CANCELLED when the observer says so; they can then be continued.
absl::StatusOr<UpperFitResult> FitUpper(const UpperFitRequest& request, FitBudget& budget, SharedSearchState& sketch,
                                        SharedSearchState& state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_UPPER_FIT_H_
