// What the states of running fits have in common, as bytes (core/base/bytes.h):
//
//   options  optional u32 kernel, u64 seed, f64 max seconds, i64 max iterations, u32 inducing points, u32 batch size, i64 steps,
//            bool point estimate, u64 options of the method, per option string name, f64 value
//   work     i64 iterations, i64 evaluations, f64 seconds
//   starts   u64 count; per start u32 structure, vector z, f64 value, bool done, u32 rounds, i64 iterations
//   search   starts; bool screened
//            u64 modes; per mode u32 structure, vector z, f64 value, matrix Hessian, u32 failed columns of it, f64 log evidence,
//            f64 weight
//            u64 chains; per chain u32 mode, bool started, state (core/optim/hmc_bytes.h), vectors of its trace
#ifndef FIDELIO_CORE_FIT_FIT_BYTES_H_
#define FIDELIO_CORE_FIT_FIT_BYTES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/bytes.h"
#include "core/emulator/fit_options.h"
#include "core/fit/fit_budget.h"
#include "core/fit/search_state.h"
#include "core/fit/target.h"
#include "core/optim/hmc_bytes.h"

namespace fidelio {

// The bytes of a state, which begin with u32 recipe: the version of the priors, starts and settings that its fits have.
// FAILED_PRECONDITION for another version or recipe, whose fits can't be continued.
absl::StatusOr<ByteReader> OpenState(absl::string_view bytes, uint32_t kind, uint32_t version, uint32_t recipe);

// Without threads and warm start.
template <typename Bytes>
void Fields(Bytes& bytes, FitOptions& options) {
  bytes(options.kernel, options.seed, options.max_seconds, options.max_iterations, options.inducing_points,
        options.batch_size, options.steps, options.point_estimate, options.method_options);
}

template <typename Bytes>
void Fields(Bytes& bytes, FitWork& work) {
  bytes(work.iterations, work.evaluations, work.seconds);
}

template <typename Bytes>
void Fields(Bytes& bytes, SearchStart& start) {
  bytes(start.structure, start.z, start.value, start.done, start.rounds, start.iterations);
}

template <typename Bytes>
void Fields(Bytes& bytes, SearchMode& mode) {
  bytes(mode.structure, mode.z, mode.value, mode.hessian, mode.failed_columns, mode.log_evidence, mode.weight);
}

template <typename Bytes>
void Fields(Bytes& bytes, SearchChain& chain) {
  bytes(chain.mode, chain.started, chain.hmc, chain.trace);
}

template <typename Bytes>
void Fields(Bytes& bytes, SearchState& state) {
  bytes(state.starts, state.screened, state.modes, state.chains);
}

// DATA_LOSS when sizes and indices of a state that was read are not those of the target that it claims to be of.
absl::Status CheckSearch(const SearchState& state, const std::vector<SearchStart>& extra_starts, const Target& target);

}  // namespace fidelio

#endif  // FIDELIO_CORE_FIT_FIT_BYTES_H_
