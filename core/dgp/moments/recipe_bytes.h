// Recipes within a checkpoint (core/base/bytes.h):
//
//   recipe    u32 first level, u32 kernel, bool warp, bool trend, f64 trend curvature, f64 noise floor, f64 tie, f64 centre of
//             layer 1's log lengthscales, u64 links, per link bool offset, bool raw zero, f64 weight
#ifndef FIDELIO_CORE_DGP_MOMENTS_RECIPE_BYTES_H_
#define FIDELIO_CORE_DGP_MOMENTS_RECIPE_BYTES_H_

#include "core/base/bytes.h"
#include "core/dgp/moments/recipe.h"

namespace fidelio {

// The parts of a recipe that predictions depend on; priors are read as their defaults.
void WriteRecipe(const Recipe& recipe, ByteWriter& out);
Recipe ReadRecipe(ByteReader& in);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_RECIPE_BYTES_H_
