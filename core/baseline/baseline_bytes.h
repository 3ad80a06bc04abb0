// Learned hyperparameters within the bytes of a checkpoint: u64 count; per stage u32 kernel, vector θ.
#ifndef FIDELIO_CORE_BASELINE_BASELINE_BYTES_H_
#define FIDELIO_CORE_BASELINE_BASELINE_BYTES_H_

#include <vector>

#include "absl/status/status.h"
#include "core/base/bytes.h"
#include "core/baseline/baseline_model.h"

namespace fidelio {

void WriteStages(const std::vector<StageParameters>& stages, ByteWriter& out);
std::vector<StageParameters> ReadStages(ByteReader& in);

// OK, or DATA_LOSS for a number that is no kernel family.
absl::Status CheckFamily(KernelFamily family);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_BYTES_H_
