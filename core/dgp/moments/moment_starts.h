// StructuredStarts: starting points of the search for the best hyperparameters, one for each plausible explanation of the
// data.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_STARTS_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_STARTS_H_

#include <vector>

#include "core/base/types.h"
#include "core/dgp/moments/moment_model.h"

namespace fidelio {

// In whitened parameters: the prior's centre; levels that do not help each other (ρ = 0, vd = 1, a trend of its own); a nonlinear link
// (s2 = vf = 0.1); the same with short lengthscales in layer 1 (of the discrepancies where layer 1 is given). With one level: the centre, and short lengthscales.
std::vector<Vector> StructuredStarts(const MomentModel& model);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_STARTS_H_
