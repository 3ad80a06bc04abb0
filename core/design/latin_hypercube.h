// Maximin Latin hypercubes in the unit cube, beside points that are there already.
#ifndef FIDELIO_CORE_DESIGN_LATIN_HYPERCUBE_H_
#define FIDELIO_CORE_DESIGN_LATIN_HYPERCUBE_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/types.h"

namespace fidelio {

// n points beside `existing` (m×d, of which points outside [0,1]^d only count for distances). Each axis is cut into n +
// m' cells, m' of the existing points being within; new points take cells without existing ones, each at most once, at
// a random place within. The assignment of cells is improved by exchanges that do not lessen the smallest distance, as
// far as a fixed amount of work goes: of very many points it stays random. `check`: asked now and then.
absl::StatusOr<Matrix> MaximinLatinHypercube(int n, const Matrix& existing, uint64_t seed, uint32_t stream,
                                             const std::function<absl::Status()>& check);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_LATIN_HYPERCUBE_H_
