#include "core/neighbour/upper_recipes.h"

#include <cmath>
#include <iterator>

#include "core/neighbour/neighbour_priors.h"

namespace fidelio {

std::vector<Recipe> UpperRecipes(const NeighbourStack& stack, std::optional<KernelFamily> kernel, int observations) {
  const int top = stack.levels() - 1;
  const NeighbourParameters parameters(stack.layout(top), stack.theta(top));
  const double log_lengthscale = -parameters.inverse.array().log().mean();
  std::vector<KernelFamily> families(std::begin(kAllKernelFamilies), std::end(kAllKernelFamilies));
  if (kernel) families = {*kernel};
  const bool few = observations <= kMostIntegrated;
  std::vector<Recipe> recipes;
  for (const KernelFamily family : families) {
    Recipe r = DefaultRecipe(family);
    r.warp = false;
    r.trend = false;
    const double half_log_d = LogRoot(static_cast<int>(parameters.inverse.size()));  // is added to lengthscales
    const double lean = kStackLean * (log_lengthscale - r.lengthscale.centre - half_log_d);
    r.rho_lengthscale.centre += lean;
    r.delta_lengthscale.centre += lean;
    r.rho_lengthscale.scale = kLeanRhoScale;
    r.delta_lengthscale.scale = kLeanDeltaScale;
    if (few) {
      recipes.push_back(r);
      r.trend = true;
    } else {
      r.links = {{.offset = true, .raw_zero = false, .weight = 1}};
      r.linear = r.nonlinear = WideLinkPrior();
      r.rho_lengthscale = Prior::Normal(log_lengthscale - half_log_d, kFollowScale);
      r.delta_lengthscale = Prior::Normal(log_lengthscale - half_log_d + kFollowDelta, kFollowScale);
    }
    recipes.push_back(r);
  }
  return recipes;
}

}  // namespace fidelio
