// MomentFit: learns the hyperparameters of a moment-matched MF-DGP — maximum a posteriori from several structured starts,
// curvature at the best, then HMC chains. The result is a set of equally weighted draws of θ.
//
// Deterministic for a seed, whatever the number of threads. Every finished piece of work (a start, a Hessian, an HMC
// transition) is kept in a MomentFitState, which can be saved at any time and continued with the same result.
#ifndef FIDELIO_CORE_DGP_MOMENT_FIT_H_
#define FIDELIO_CORE_DGP_MOMENT_FIT_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/dgp/moment_model.h"
#include "core/emulator/fit_observer.h"
#include "core/optim/hmc.h"

namespace fidelio {

// How much work a fit does.
struct MomentFitSettings {
  int chains = 4;
  int warmup = 40;       // transitions per chain
  int transitions = 96;  // kept per chain, before thinning
  int thin = 8;
  int leapfrogs = 8;
  int max_iterations = 300;  // of L-BFGS, per start
};

// Settings for a data set of this size: the draws become fewer as one evaluation becomes dearer.
MomentFitSettings SettingsFor(const MomentModel& model);

// A finished or running L-BFGS run.
struct StartState {
  Vector z;
  double value = std::numeric_limits<double>::infinity();
  bool done = false;
};

struct ChainState {
  HmcState hmc;
  std::vector<Vector> draws;  // whitened z
  bool started = false;
};

struct MomentFitState {
  std::vector<StartState> starts;
  Vector mode;             // whitened; empty until the starts are done
  double mode_value = 0;   // −log posterior there
  HmcSpace space;          // empty basis until the curvature is known
  std::vector<ChainState> chains;
  int64_t evaluations = 0;
  double seconds = 0;      // spent before this state was saved
};

struct MomentFitRequest {
  std::shared_ptr<const MomentModel> model;
  MomentFitSettings settings;
  uint64_t seed = 0;
  int threads = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::vector<Vector> extra_starts;  // θ, for warm starts
  FitObserver* observer = nullptr;
};

struct MomentFitResult {
  std::vector<Vector> draws;  // θ
  Vector mode;                // θ
  double mode_value = 0;
  double acceptance = 0;
  double max_jitter = 0;
  int64_t evaluations = 0;
  double seconds = 0;
  double log_evidence = 0;    // Laplace's, at the mode
};

// Runs `state` to its end. CANCELLED when the observer says so; `state` can then be continued.
absl::StatusOr<MomentFitResult> RunMomentFit(const MomentFitRequest& request, MomentFitState& state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENT_FIT_H_
