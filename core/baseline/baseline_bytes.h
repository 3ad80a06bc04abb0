// Learned hyperparameters within the bytes of a checkpoint:
//
//   u64 stages; per stage the best and, from version 2 on, u64 draws and these; each u32 kernel, vector θ, and from version 2 on
//   f64 weight
#ifndef FIDELIO_CORE_BASELINE_BASELINE_BYTES_H_
#define FIDELIO_CORE_BASELINE_BASELINE_BYTES_H_

#include <vector>

#include "absl/status/status.h"
#include "core/base/bytes.h"
#include "core/baseline/baseline_model.h"

namespace fidelio {

void WriteStages(const std::vector<StageParameters>& stages, ByteWriter& out);
std::vector<StageParameters> ReadStages(ByteReader& in, uint32_t version);

// OK, or DATA_LOSS for a number that is no kernel family, or weights that are none.
absl::Status CheckFamily(KernelFamily family);
absl::Status CheckStages(const std::vector<StageParameters>& stages);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_BYTES_H_
