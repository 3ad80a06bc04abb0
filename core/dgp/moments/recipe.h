// Recipe: which terms a moment-matched MF-DGP has, and the priors of its hyperparameters.
//
// All quantities are in standardised units: inputs in [0,1], outputs by one affine map per model. Lengthscale priors are
// shifted by ½ log D; upper lengthscales lean on layer 1's by `tie`.
#ifndef FIDELIO_CORE_DGP_MOMENTS_RECIPE_H_
#define FIDELIO_CORE_DGP_MOMENTS_RECIPE_H_

#include <vector>

#include "core/kernel/kernel_family.h"
#include "core/kernel/link_parameter.h"
#include "core/param/prior.h"

namespace fidelio {

// How f_t leans on f_{t−1}: f_t = ρ f_{t−1} + (1−ρ) z + g_t. The structures of a recipe are summed out in the likelihood
// at every hyperparameter value.
struct Link {
  bool offset = true;     // g_t has the constant term va
  bool raw_zero = false;  // z is the user's zero ("proportional") instead of the mean of the data
  double weight = 1;      // prior weight
};

struct Recipe {
  int first_level = 0;  // the lowest level that the structure uses; levels below it are ignored
  KernelFamily kernel = KernelFamily::kRbf;
  bool warp = true;   // a learned monotone warp of layer 1's inputs
  bool trend = true;  // a polynomial term in x at every level
  double trend_curvature = 0;
  std::vector<Link> links;
  double noise_floor = 1e-8;  // variance
  double tie = 0.5;

  // Layer 1.
  Prior lengthscale, warp_strength, amplitude, mean, trend_amplitude;
  // Every level.
  Prior noise;
  // Layers above.
  Prior rho_lengthscale, linear, nonlinear, nonlinear_lengthscale, delta_lengthscale, delta, offset, rho, delta_trend;
};

// The prior of a parameter of a link's terms: that of the recipe, or the parameter's own.
const Prior& PriorOf(const Recipe& recipe, const LinkParameter& parameter);

// The priors that fits use, with every term switched on.
Recipe DefaultRecipe(KernelFamily kernel);

// The same parameters with the same meaning (priors may differ).
bool SameStructure(const Recipe& a, const Recipe& b);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_RECIPE_H_
