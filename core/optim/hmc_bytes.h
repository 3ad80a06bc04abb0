// The bytes of a Markov chain's state:
//
//   vector q, f64 value, vector gradient, f64 log step, f64 mean log step, f64 mean error, u32 iteration, f64 sum of
//   acceptances
#ifndef FIDELIO_CORE_OPTIM_HMC_BYTES_H_
#define FIDELIO_CORE_OPTIM_HMC_BYTES_H_

#include "core/base/bytes.h"
#include "core/optim/hmc.h"

namespace fidelio {

template <typename Bytes>
void Fields(Bytes& bytes, HmcState& state) {
  bytes(state.q, state.value, state.gradient, state.log_step, state.mean_log_step, state.mean_error, state.iteration,
        state.acceptance_sum);
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_OPTIM_HMC_BYTES_H_
