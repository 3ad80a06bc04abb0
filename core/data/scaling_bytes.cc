#include "core/data/scaling_bytes.h"

#include <cmath>

#include "absl/strings/str_format.h"

namespace fidelio {

absl::Status CheckScaling(const Scaling& scaling, int dimension) {
  if (scaling.input_low.size() == dimension && scaling.input_width.size() == dimension &&
      scaling.input_low.allFinite() && scaling.input_width.allFinite() && scaling.input_width.minCoeff() > 0 &&
      std::isfinite(scaling.output_mean) && std::isfinite(scaling.output_sd) && scaling.output_sd > 0) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      absl::StrFormat("checkpoint holds a structure whose scaling is not one of %d inputs", dimension));
}

}  // namespace fidelio
