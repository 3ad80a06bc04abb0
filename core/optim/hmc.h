// Hamiltonian Monte Carlo on a negative log density, one transition at a time.
//
// The chain lives in whitened coordinates q: x = origin + basis·q, where `basis` is meant to make the target about
// isotropic. Step sizes vary by ±20 %; during warm-up they adapt to an acceptance of 0.8. A transition depends only on the
// state, the seed and the chain's number, so a saved chain continues with the same draws.
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
  int leapfrogs = 8;
  double target_acceptance = 0.8;
};

struct HmcState {
  Vector q;
  double value = 0;
  Vector gradient;  // with respect to q
  double log_step = -1.05;
  int iteration = 0;
  double acceptance_sum = 0;  // after warm-up
};

// A state at q. False where the objective can't be evaluated.
bool StartHmc(Objective& objective, const HmcSpace& space, const Vector& q, HmcState* state);

// One transition; returns the number of evaluations.
int StepHmc(Objective& objective, const HmcSpace& space, const HmcOptions& options, uint64_t seed, uint32_t chain,
            HmcState* state);

}  // namespace fidelio

#endif  // FIDELIO_CORE_OPTIM_HMC_H_
