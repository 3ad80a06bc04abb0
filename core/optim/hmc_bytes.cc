#include "core/optim/hmc_bytes.h"

namespace fidelio {

void WriteHmc(const HmcState& state, ByteWriter& out) {
  out.Write(state.q);
  out.F64(state.value);
  out.Write(state.gradient);
  out.F64(state.log_step);
  out.F64(state.mean_log_step);
  out.F64(state.mean_error);
  out.U32(static_cast<uint32_t>(state.iteration));
  out.F64(state.acceptance_sum);
}

HmcState ReadHmc(ByteReader& in) {
  HmcState state;
  state.q = in.ReadVector();
  state.value = in.F64();
  state.gradient = in.ReadVector();
  state.log_step = in.F64();
  state.mean_log_step = in.F64();
  state.mean_error = in.F64();
  state.iteration = static_cast<int>(in.U32());
  state.acceptance_sum = in.F64();
  return state;
}

}  // namespace fidelio
