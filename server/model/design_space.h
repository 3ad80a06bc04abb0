// Where designs are sought: the box of a model, and points that fill it.
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_SERVER_MODEL_DESIGN_SPACE_H_
#define FIDELIO_SERVER_MODEL_DESIGN_SPACE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/data/dataset.h"

namespace fidelio {

// The box of the data, or the range of its inputs, where lower and upper may be equal. Requires a point.
InputBox DesignBox(const Dataset& data);

// Scrambled Sobol' points, n×d, of the box; an input whose range is a point has that value. The first points of more
// are the same. INVALID_ARGUMENT when more than kMostSobolDimensions inputs have a range.
absl::StatusOr<Matrix> FillBox(const InputBox& box, int n, uint64_t seed);

}  // namespace fidelio

#endif  // FIDELIO_SERVER_MODEL_DESIGN_SPACE_H_
