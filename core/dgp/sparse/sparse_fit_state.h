// What the states of running fits of sparse layers have in common: options, the data that they belong to, and where to start from.
#ifndef FIDELIO_CORE_DGP_SPARSE_SPARSE_FIT_STATE_H_
#define FIDELIO_CORE_DGP_SPARSE_SPARSE_FIT_STATE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/bytes.h"
#include "core/data/dataset.h"
#include "core/emulator/fit_options.h"

namespace fidelio {

std::vector<int> CountsOf(const Dataset& data);

// θ and noise of the layers of a fitted model, in standardised units.
struct WarmLayers {
  std::vector<Vector> theta;  // empty: none
  std::vector<double> noise;
};

// Of options.warm_start. INVALID_ARGUMENT for a model of another method or shape; none where a level's noise was given and is learned
// now, or the other way round.
absl::StatusOr<WarmLayers> WarmLayersOf(const Dataset& data, const FitOptions& options);

// The fields that both fits write first: u32 recipe, u32 checksum of the data, options (core/fit/fit_bytes.h); warm start: vectors θ,
// vector noise.
void WriteFitStart(uint32_t recipe, const Dataset& data, const FitOptions& options, const WarmLayers& warm,
                   ByteWriter& out);
struct FitStart {
  FitOptions options;
  WarmLayers warm;
};
// What follows the recipe. DATA_LOSS where `data` are not those of the fit.
absl::StatusOr<FitStart> ReadFitStart(const Dataset& data, ByteReader& in);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_SPARSE_FIT_STATE_H_
