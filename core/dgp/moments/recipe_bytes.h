// Recipes within a checkpoint (core/base/bytes.h):
//
//   recipe    u32 first level, u32 kernel, bool warp, bool trend, f64 trend curvature, f64 noise floor, f64 tie, f64 centre of
//             layer 1's log lengthscales, u64 links, per link bool offset, bool raw zero, f64 weight
#ifndef FIDELIO_CORE_DGP_MOMENTS_RECIPE_BYTES_H_
#define FIDELIO_CORE_DGP_MOMENTS_RECIPE_BYTES_H_

#include "core/base/bytes.h"
#include "core/dgp/moments/recipe.h"

namespace fidelio {

template <typename Bytes>
void Fields(Bytes& bytes, Link& link) {
  bytes(link.offset, link.raw_zero, link.weight);
}

// The parts of a recipe that predictions depend on; priors are read as their defaults.
template <typename Bytes>
void Fields(Bytes& bytes, Recipe& recipe) {
  bytes(recipe.first_level, recipe.kernel, recipe.warp, recipe.trend, recipe.trend_curvature, recipe.noise_floor,
        recipe.tie, recipe.lengthscale.centre, recipe.links);
}

inline void WriteRecipe(const Recipe& recipe, ByteWriter& out) { out(recipe); }
inline Recipe ReadRecipe(ByteReader& in) { return in.Read<Recipe>(); }

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_RECIPE_BYTES_H_
