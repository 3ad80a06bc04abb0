#include "core/dgp/moments/recipe_bytes.h"

namespace fidelio {

void WriteRecipe(const Recipe& recipe, ByteWriter& out) {
  out.U32(static_cast<uint32_t>(recipe.first_level));
  out.U32(static_cast<uint32_t>(recipe.kernel));
  out.Bool(recipe.warp);
  out.Bool(recipe.trend);
  out.F64(recipe.trend_curvature);
  out.F64(recipe.noise_floor);
  out.F64(recipe.tie);
  out.F64(recipe.lengthscale.centre);
  out.U64(recipe.links.size());
  for (const Link& link : recipe.links) {
    out.Bool(link.offset);
    out.Bool(link.raw_zero);
    out.F64(link.weight);
  }
}

Recipe ReadRecipe(ByteReader& in) {
  Recipe recipe;
  recipe.first_level = static_cast<int>(in.U32());
  recipe.kernel = static_cast<KernelFamily>(in.U32());
  recipe.warp = in.Bool();
  recipe.trend = in.Bool();
  recipe.trend_curvature = in.F64();
  recipe.noise_floor = in.F64();
  recipe.tie = in.F64();
  recipe.lengthscale.centre = in.F64();
  const uint64_t links = in.U64();
  for (uint64_t l = 0; l < links && in.ok(); ++l) {
    Link link;
    link.offset = in.Bool();
    link.raw_zero = in.Bool();
    link.weight = in.F64();
    recipe.links.push_back(link);
  }
  return recipe;
}

}  // namespace fidelio
