#include "core/dgp/moments/recipe.h"

#include <cmath>

#include "absl/strings/string_view.h"

namespace fidelio {

Recipe DefaultRecipe(KernelFamily kernel) {
  Recipe r;
  r.kernel = kernel;
  r.trend_curvature = 0.5;
  r.links = {{.offset = true, .raw_zero = false, .weight = 0.5}, {.offset = false, .raw_zero = true, .weight = 0.5}};
  r.lengthscale = Prior::InverseGamma(0.2, 1.5, 0.5);
  r.warp_strength = Prior::Normal(0, 1);
  r.amplitude = Prior::Normal(1, 2);
  r.mean = Prior::Normal(0, 1.5);
  r.noise = Prior::Student(std::log(3e-3), 1.5, 3);
  r.trend_amplitude = Prior::Student(std::log(0.1), 2.5, 4);
  r.rho_lengthscale = Prior::Normal(1.2, 0.6);
  r.linear = Prior::Student(std::log(3e-5), 2.2, 4);
  r.nonlinear = Prior::Student(std::log(3e-5), 2.2, 4);
  r.nonlinear_lengthscale = Prior::Normal(0, 0.7);
  r.delta_lengthscale = Prior::Student(0.5, 0.6, 4);
  r.delta = Prior::Student(std::log(0.05), 2.3, 4);
  r.offset = Prior::Normal(std::log(0.1), 2.5);
  r.delta_trend = Prior::Student(std::log(1e-2), 2.5, 4);
  r.rho = Prior::Normal(1, 0.7);
  return r;
}

const Prior& PriorOf(const Recipe& recipe, const LinkParameter& parameter) {
  const absl::string_view name = parameter.name;
  if (name == "s2") return recipe.linear;
  if (name == "vf") return recipe.nonlinear;
  if (name == "lf") return recipe.nonlinear_lengthscale;
  return parameter.prior;
}

bool SameStructure(const Recipe& a, const Recipe& b) {
  return a.first_level == b.first_level && a.kernel == b.kernel && a.warp == b.warp && a.trend == b.trend &&
         a.trend_curvature == b.trend_curvature && a.tie == b.tie && a.lengthscale.centre == b.lengthscale.centre &&
         a.links.size() == b.links.size();
}

}  // namespace fidelio
