// The structures of the levels above a NeighbourStack.
#ifndef FIDELIO_CORE_NEIGHBOUR_UPPER_RECIPES_H_
#define FIDELIO_CORE_NEIGHBOUR_UPPER_RECIPES_H_

#include <optional>
#include <vector>

#include "core/dgp/moments/recipe.h"
#include "core/neighbour/neighbour_stack.h"

namespace fidelio {

// One per kernel family; with few observations twice, with and without a trend, and with both links. Lengthscales lean on
// those of the stack's highest layer.
std::vector<Recipe> UpperRecipes(const NeighbourStack& stack, std::optional<KernelFamily> kernel, int observations);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_UPPER_RECIPES_H_
