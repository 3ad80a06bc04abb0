// A Scaling within the bytes of a checkpoint: vectors lowest input, width, f64 mean, f64 standard deviation of outputs.
#ifndef FIDELIO_CORE_DATA_SCALING_BYTES_H_
#define FIDELIO_CORE_DATA_SCALING_BYTES_H_

#include "absl/status/status.h"
#include "core/base/bytes.h"
#include "core/data/scaled_data.h"

namespace fidelio {

template <typename Bytes>
void Fields(Bytes& bytes, Scaling& scaling) {
  bytes(scaling.input_low, scaling.input_width, scaling.output_mean, scaling.output_sd);
}

inline void WriteScaling(const Scaling& scaling, ByteWriter& out) { out(scaling); }
inline Scaling ReadScaling(ByteReader& in) { return in.Read<Scaling>(); }

// OK, or DATA_LOSS when what was read is not a scaling of this number of inputs.
absl::Status CheckScaling(const Scaling& scaling, int dimension);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DATA_SCALING_BYTES_H_
