// Hamiltonian Monte Carlo on a negative log density, one transition at a time.
//
// The chain lives in whitened coordinates q: x = origin + basis·q, where `basis` is meant to make the target about
// isotropic. During warm-up the step size adapts to an acceptance of 0.8 by dual averaging (Hoffman & Gelman 2014); the
// average of its iterates is used from then on, ±20 % at random. A trajectory has a length of about `length`, in at
// most `leapfrogs` steps. A transition depends only on the state, the seed and the stream, so a saved chain continues
// with the same draws.
#ifndef FIDELIO_CORE_OPTIM_HMC_H_
#define FIDELIO_CORE_OPTIM_HMC_H_

#include <cstdint>

#include "core/base/types.h"
#include "core/optim/objective.h"

namespace fidelio {

struct HmcSpace {
  Vector origin;
  Matrix basis;
};

struct HmcOptions {
  int warmup = 60;
  int leapfrogs = 8;  // at most
  double length = 3;  // of a trajectory: about half a period of a whitened Gaussian
  double target_acceptance = 0.8;
};

// A step of .35, which suits a whitened Gaussian of some ten dimensions (chosen by hand): the first, before it adapts.
inline constexpr double kFirstLogStep = -1.05;

struct HmcState {
  Vector q;
  double value = 0;
  Vector gradient;  // with respect to q
  double log_step = kFirstLogStep;
  double mean_log_step = kFirstLogStep;  // of the iterates of dual averaging
  double mean_error = 0;                 // of acceptances, target less actual, over the warm-up
  int iteration = 0;
  double acceptance_sum = 0;  // after warm-up
};

// A state at q. False where the objective can't be evaluated.
bool StartHmc(Objective& objective, const HmcSpace& space, const Vector& q, HmcState* state);

// One transition; returns the number of evaluations.
int StepHmc(Objective& objective, const HmcSpace& space, const HmcOptions& options, uint64_t seed, uint32_t stream,
            HmcState* state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_OPTIM_HMC_H_
