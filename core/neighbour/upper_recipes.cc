#include "core/neighbour/upper_recipes.h"

#include <cmath>
#include <iterator>

namespace fidelio {
namespace {

constexpr double kLean = 0.5;  // how far the priors of upper lengthscales follow the stack's, in logarithms

}  // namespace

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
    const double lean = kLean * (log_lengthscale - r.lengthscale.centre -
                                 0.5 * std::log(static_cast<double>(parameters.inverse.size())));
    r.rho_lengthscale.centre += lean;
    r.delta_lengthscale.centre += lean;
    r.rho_lengthscale.scale = 1;
    r.delta_lengthscale.scale = 1.2;
    if (few) {
      recipes.push_back(r);
      r.trend = true;
    } else {
      r.links = {{.offset = true, .raw_zero = false, .weight = 1}};
      // Enough observations to tell how the link bends: nothing speaks against it beforehand.
      r.linear = r.nonlinear = Prior::Normal(std::log(1e-2), 2.2);
      // Nor against links and discrepancies that change as quickly as the level below.
      const double half_log_d = 0.5 * std::log(static_cast<double>(parameters.inverse.size()));  // is added to both
      r.rho_lengthscale = Prior::Normal(log_lengthscale - half_log_d, 1.5);
      r.delta_lengthscale = Prior::Normal(log_lengthscale - half_log_d - 0.5, 1.5);
    }
    recipes.push_back(r);
  }
  return recipes;
}

}  // namespace fidelio
