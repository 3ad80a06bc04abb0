// Which structures a fit averages over, and how much work it does, by the size of its data.
#ifndef FIDELIO_CORE_DGP_STRUCTURES_H_
#define FIDELIO_CORE_DGP_STRUCTURES_H_

#include <optional>
#include <vector>

#include "core/dgp/moment_fit.h"
#include "core/dgp/recipe.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

// A change of what DefaultStructures or SettingsFor return makes saved running fits unusable: raise this with it.
inline constexpr uint32_t kRecipeVersion = 1;

// `points`: observations of all levels. Without a kernel family, all of them.
std::vector<Recipe> DefaultStructures(std::optional<KernelFamily> kernel, int points);

// One evaluation costs O(points³): with more points, fewer transitions and draws (the posterior is narrower, too).
MomentFitSettings SettingsFor(int points);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_STRUCTURES_H_
