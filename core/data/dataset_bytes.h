// A Dataset within a checkpoint (core/base/bytes.h):
//
//   u64 levels; per level matrix x, vector y, vector noise_variance; bool box, then vectors lower, upper
#ifndef FIDELIO_CORE_DATA_DATASET_BYTES_H_
#define FIDELIO_CORE_DATA_DATASET_BYTES_H_

#include "core/base/bytes.h"
#include "core/data/dataset.h"

namespace fidelio {

void WriteDataset(const Dataset& data, ByteWriter& out);

// What WriteDataset wrote; Validate it before use.
Dataset ReadDataset(ByteReader& in);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DATA_DATASET_BYTES_H_
