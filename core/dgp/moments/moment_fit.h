// MomentFit: learns the hyperparameters of moment-matched MF-DGPs of several structures, and averages over them.
//
//   1. optimise    L-BFGS to the posterior's modes, from the structured starts of every structure
//   2. curvature   Hessians at the distinct modes near the best; they give each mode's evidence (Laplace) Z, completed by
//                  that of the levels which its structure leaves out
//   3. sample      HMC chains from the modes that matter, at least two each, whitened by their Hessians
// The result is a set of draws of (structure, θ); those of mode m share a weight ∝ Z_m^(1/temperature): not the posterior's, but a
// flatter one (√Z at temperature 2), which forgives the errors of Laplace's approximation.
//
// Whatever ends a fit, every level has a draw that predicts it: a mode with a weight but without draws stands in for them itself.
//
// Deterministic for a seed, whatever the number of threads, also when a budget of iterations ends it: starts and chains get
// equal shares of what the phases before them have left. (A budget of seconds cuts where it cuts.) Every finished piece of work (a round of L-BFGS, a Hessian, an
// HMC transition) is kept in a MomentFitState, which can be copied at any time and continued with the same result.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_FIT_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_FIT_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/dgp/moments/moment_model.h"
#include "core/emulator/fit_observer.h"
#include "core/emulator/fit_options.h"
#include "core/optim/hmc.h"

namespace fidelio {

// How much work a fit does.
struct MomentFitSettings {
  int chains = 4;        // at least, and at least two per mode; 0: the best mode alone, without curvature and sampling
  int modes = 4;         // that are sampled, at most
  int warmup = 24;       // transitions per chain
  int transitions = 64;  // kept per chain, before thinning
  int draws = 48;        // of all chains together, about
  int leapfrogs = 8;     // of a transition, at most
  int max_iterations = 300;    // of L-BFGS, per start
  double temperature = 2;      // of the modes' weights
  double least_weight = 0.03;  // modes below it are dropped
};

// A finished or running L-BFGS run.
struct StartState {
  int structure = 0;
  Vector z;  // whitened
  double value = std::numeric_limits<double>::infinity();
  int rounds = 0;          // of L-BFGS, finished
  int64_t iterations = 0;  // in them
  bool done = false;
};

// A mode of the posterior of one structure.
struct ModeState {
  int structure = 0;
  Vector z;
  double value = 0;         // −log posterior with a normalised prior
  Matrix hessian;           // empty until measured
  int failed_columns = 0;   // of it, which could not be measured: those of the prior stand in for them
  double log_evidence = 0;  // Laplace's, known with the Hessian
  double weight = 0;        // 0: dropped
  HmcSpace space;
};

struct ChainState {
  int mode = 0;
  bool started = false;
  HmcState hmc;
  std::vector<Vector> trace;  // whitened, of every transition after warm-up
};

struct MomentFitState {
  std::vector<StartState> starts;
  std::vector<ModeState> modes;    // empty until the starts are done
  std::vector<ChainState> chains;  // empty until the modes have weights
  int64_t iterations = 0;
  int64_t evaluations = 0;
  double seconds = 0;  // spent before this state was taken
};

// A state that can be copied while a fit runs on it. Thread-safe.
class SharedFitState {
 public:
  SharedFitState() = default;
  explicit SharedFitState(MomentFitState state) : state_(std::move(state)) {}

  MomentFitState Copy() const {
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
  MomentFitState state_;  // guarded by mutex_
};

struct MomentFitRequest {
  std::vector<std::shared_ptr<const MomentModel>> structures;
  MomentFitSettings settings;
  uint64_t seed = 0;
  int threads = 0;
  double max_seconds = std::numeric_limits<double>::infinity();
  int64_t max_iterations = std::numeric_limits<int64_t>::max();
  std::vector<StartState> extra_starts;  // for warm starts
  bool only_extra_starts = false;        // nothing else is tried
  FitObserver* observer = nullptr;
};

struct MomentDraw {
  int structure = 0;
  double weight = 0;
  Vector theta;
};

struct MomentFitResult {
  std::vector<MomentDraw> draws;  // weights sum to 1
  FitReport report;               // without the number of draws
};

// Runs `state` to its end. CANCELLED when the observer says so; `state` can then be continued. When max_seconds or
// max_iterations have passed, the best so far is returned; every start gets at least one iteration.
absl::StatusOr<MomentFitResult> RunMomentFit(const MomentFitRequest& request, SharedFitState& state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_FIT_H_
