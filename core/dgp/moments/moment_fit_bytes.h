// A MomentFitState within the state of a running fit (core/base/bytes.h):
//
//   u64 starts; per start u32 structure, vector z, f64 value, bool done, u32 rounds, i64 iterations
//   u64 modes; per mode u32 structure, vector z, f64 value, matrix Hessian, u32 failed columns of it, f64 log evidence,
//       f64 weight, vector origin, matrix basis
//   u64 chains; per chain u32 mode, bool started, state (core/optim/hmc_bytes.h), vectors of its trace
//   i64 iterations, i64 evaluations, f64 seconds
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_FIT_BYTES_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_FIT_BYTES_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/base/bytes.h"
#include "core/dgp/moments/moment_fit.h"

namespace fidelio {

void WriteStarts(const std::vector<StartState>& starts, ByteWriter& out);
std::vector<StartState> ReadStarts(ByteReader& in);

void WriteFitState(const MomentFitState& state, ByteWriter& out);
MomentFitState ReadFitState(ByteReader& in);

// DATA_LOSS when sizes and indices of a state that was read are not those of the structures that it claims to be of.
absl::Status CheckFitState(const MomentFitState& state, const std::vector<StartState>& warm,
                           const std::vector<std::shared_ptr<const MomentModel>>& structures);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_FIT_BYTES_H_
