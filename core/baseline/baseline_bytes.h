// Learned hyperparameters within the bytes of a checkpoint:
//
//   u64 stages; per stage the best and, from version 2 on, u64 draws and these; each a form, vector θ, and from version 2 on f64
//   weight. A form: u32 kernel and, from version 2 on, u32 hidden units
#ifndef FIDELIO_CORE_BASELINE_BASELINE_BYTES_H_
#define FIDELIO_CORE_BASELINE_BASELINE_BYTES_H_

#include <vector>

#include "absl/status/status.h"
#include "core/base/bytes.h"
#include "core/baseline/baseline_model.h"

namespace fidelio {

void WriteForm(const StageForm& form, ByteWriter& out);
StageForm ReadForm(ByteReader& in, uint32_t version);
void WriteStages(const std::vector<StageParameters>& stages, ByteWriter& out);
std::vector<StageParameters> ReadStages(ByteReader& in, uint32_t version);

// OK, or DATA_LOSS for a number that is no kernel family, or weights that are none.
absl::Status CheckFamily(KernelFamily family);
absl::Status CheckStages(const std::vector<StageParameters>& stages);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASELINE_BASELINE_BYTES_H_
