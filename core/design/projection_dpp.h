// A draw from the projection DPP of k orthonormal vectors over n candidates: k candidates S with probability det(y_S)²,
// where y_S are their columns of the vectors (k×n). The second half of a draw from a k-DPP.
//
// Candidates are proposed with the probabilities ‖y_i‖²/k and accepted with those of what the earlier ones leave of
// them, ‖y_i − projection‖²/‖y_i‖²: exactly the conditional distributions, but only the k log k proposals expected are
// projected, in O(n k + k³ log k) instead of O(n k²).
#ifndef FIDELIO_CORE_DESIGN_PROJECTION_DPP_H_
#define FIDELIO_CORE_DESIGN_PROJECTION_DPP_H_

#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"

namespace fidelio {

// `y`: k×n with orthonormal rows, n ≥ k. The candidates are in the order of the draw.
std::vector<int> DrawProjectionDpp(const Matrix& y, Random& random);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_PROJECTION_DPP_H_
