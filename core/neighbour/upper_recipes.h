// The structures of the levels above a NeighbourStack.
#ifndef FIDELIO_CORE_NEIGHBOUR_UPPER_RECIPES_H_
#define FIDELIO_CORE_NEIGHBOUR_UPPER_RECIPES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/dgp/moments/recipe.h"
#include "core/neighbour/neighbour_stack.h"

namespace fidelio {

// A change of these makes saved running fits unusable: raise this with it.
inline constexpr uint32_t kUpperRecipeVersion = 3;

// Up to this number of observations, predictions average HMC draws of the hyperparameters of the upper levels.
inline constexpr int kMostIntegrated = 300;

// One per kernel family; with few observations twice, with and without a trend, and with both links. Lengthscales lean on
// those of the stack's highest layer.
std::vector<Recipe> UpperRecipes(const NeighbourStack& stack, std::optional<KernelFamily> kernel, int observations);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_UPPER_RECIPES_H_
