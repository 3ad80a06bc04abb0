// The two recipes that tests/golden/moment_reference_values.h was made with.
#ifndef FIDELIO_TESTS_SUPPORT_REFERENCE_RECIPES_H_
#define FIDELIO_TESTS_SUPPORT_REFERENCE_RECIPES_H_

#include <cmath>

#include "core/dgp/moments/recipe.h"

namespace fidelio {

// No warp, no trend, one link with an offset, normal priors.
inline Recipe ReferenceRecipe1() {
  Recipe r;
  r.kernel = KernelFamily::kRbf;
  r.warp = false;
  r.trend = false;
  r.links = {{.offset = true, .raw_zero = false, .weight = 1}};
  r.noise_floor = 1e-8;
  r.tie = 0.5;
  r.lengthscale = Prior::InverseGamma(0.2, 1.5, 0.5);
  r.amplitude = Prior::Normal(1, 2);
  r.mean = Prior::Normal(0, 1.5);
  r.noise = Prior::Normal(std::log(3e-3), 1.5);
  r.rho_lengthscale = Prior::Normal(1.2, 0.6);
  r.linear = Prior::Normal(std::log(3e-5), 2.2);
  r.nonlinear = Prior::Normal(std::log(3e-5), 2.2);
  r.nonlinear_lengthscale = Prior::Normal(0, 0.7);
  r.delta_lengthscale = Prior::Normal(0.5, 0.6);
  r.delta = Prior::Normal(std::log(0.02), 2.5);
  r.offset = Prior::Normal(std::log(0.1), 2.5);
  r.rho = Prior::Normal(1, 0.7);
  return r;
}

// Warp, an offset and a proportional link, Student-t priors where the data may disagree. The other priors are Student-t
// with 10⁷ degrees of freedom, as in the program that made the values: normal to about seven digits.
inline Recipe ReferenceRecipe2() {
  Recipe r = ReferenceRecipe1();
  r.warp = true;
  r.links = {{.offset = true, .raw_zero = false, .weight = 0.5}, {.offset = false, .raw_zero = true, .weight = 0.5}};
  r.warp_strength = Prior::Normal(0, 1);
  for (Prior* prior : {&r.warp_strength, &r.amplitude, &r.mean, &r.noise, &r.rho_lengthscale, &r.nonlinear_lengthscale,
                       &r.offset, &r.rho}) {
    *prior = Prior::Student(prior->centre, prior->scale, 1e7);
  }
  r.linear = Prior::Student(std::log(3e-5), 2.2, 4);
  r.nonlinear = Prior::Student(std::log(3e-5), 2.2, 4);
  r.delta_lengthscale = Prior::Student(0.5, 0.6, 4);
  r.delta = Prior::Student(std::log(0.05), 2.3, 4);
  return r;
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_REFERENCE_RECIPES_H_
