// UpperFit: learns the levels above a NeighbourStack, as MomentFit does.
//
// Up to 300 observations predictions average HMC draws of the hyperparameters. With more, the kernel families and starts are found on 300 of
// them (a sketch), and the best are followed to their modes on all, which are averaged by StackingWeights.
#ifndef FIDELIO_CORE_NEIGHBOUR_UPPER_FIT_H_
#define FIDELIO_CORE_NEIGHBOUR_UPPER_FIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/dgp/moments/moment_fit.h"
#include "core/emulator/fit_observer.h"
#include "core/emulator/fit_options.h"
#include "core/neighbour/neighbour_fit_state.h"
#include "core/neighbour/upper_points.h"

namespace fidelio {

struct UpperFitRequest {
  const NeighbourStack& stack;  // complete
  const Dataset& data;
  const Scaling& scaling;
  const FitOptions& options;  // its budget is for the whole fit, of which `spent` has gone
  const NeighbourWarmStart& warm;
  FitProgress spent;
  double begin = 0;  // of the progress bar
  FitObserver* observer = nullptr;
};

struct UpperFitResult {
  std::vector<Recipe> recipes;
  std::vector<MomentDraw> draws;
  FitReport report;  // of this part
};

// Runs the states to their ends. CANCELLED when the observer says so; they can then be continued.
absl::StatusOr<UpperFitResult> FitUpper(const UpperFitRequest& request, SharedFitState& sketch, SharedFitState& state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_UPPER_FIT_H_
