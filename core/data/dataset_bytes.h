// A Dataset within a checkpoint (core/base/bytes.h):
//
//   u64 levels; per level matrix x, vector y, vector noise_variance; bool box, then vectors lower, upper
#ifndef FIDELIO_CORE_DATA_DATASET_BYTES_H_
#define FIDELIO_CORE_DATA_DATASET_BYTES_H_

#include "core/base/bytes.h"
#include "core/data/dataset.h"

namespace fidelio {

inline void WriteDataset(const Dataset& data, ByteWriter& out) { out(data); }

// What WriteDataset wrote; Validate it before use.
inline Dataset ReadDataset(ByteReader& in) { return in.Read<Dataset>(); }

}  // namespace fidelio

#endif  // FIDELIO_CORE_DATA_DATASET_BYTES_H_
