// Which structures a fit averages over, and how much work it does, by the size of its data.
#ifndef FIDELIO_CORE_DGP_MOMENTS_STRUCTURES_H_
#define FIDELIO_CORE_DGP_MOMENTS_STRUCTURES_H_

#include <optional>
#include <vector>

#include "core/dgp/moments/moment_fit.h"
#include "core/dgp/moments/recipe.h"
#include "core/kernel/kernel_family.h"

namespace fidelio {

// A change of what DefaultStructures or SettingsFor return makes saved running fits unusable: raise this with it.
inline constexpr uint32_t kRecipeVersion = 4;

// Each is a choice of warp and trend, once with all levels and, if the highest has enough points, once with it alone, so that
// uninformative lower fidelities do no harm. For data of `counts` observations per level and `dimension` inputs. Without a
// kernel family: all families.
std::vector<Recipe> DefaultStructures(std::optional<KernelFamily> kernel, const std::vector<int>& counts,
                                      int dimension);

// One evaluation costs O(points³): with more points, fewer transitions and draws (the posterior is narrower, too).
MomentFitSettings SettingsFor(int points);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_STRUCTURES_H_
