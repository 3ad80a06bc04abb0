// Recipe: which terms a moment-matched MF-DGP has, and the priors of its hyperparameters; the recipes that fits use, and all
// other constants of these fits. (Those that other models share are in core/fit/search_settings.h.)
//
// All quantities are in standardised units: inputs in [0,1], outputs by one affine map per model. Lengthscale priors are
// shifted by ½ log D; upper lengthscales lean on layer 1's by `tie`.
#ifndef FIDELIO_CORE_DGP_MOMENTS_RECIPE_H_
#define FIDELIO_CORE_DGP_MOMENTS_RECIPE_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/fit/search_settings.h"
#include "core/kernel/kernel_family.h"
#include "core/kernel/link_parameter.h"
#include "core/param/prior.h"

namespace fidelio {

// One of the ways to write f_t = ρ f_{t−1} + (1−ρ) z + g_t, the same for all levels. Those of a recipe are summed out in the likelihood
// at every hyperparameter value. (LinkKernel is the kernel of g_t, the same for each of them.)
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
  // Every level: the logarithm of the noise's standard deviation.
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

// A change of what follows, or of DefaultRecipe, makes saved running fits unusable: raise this with it.
inline constexpr uint32_t kRecipeVersion = 4;

// Prior log odds of a structure of the highest level alone. Evidence that is computed from the mode of all levels is too low by about
// as much (MomentTarget::CompleteEvidence). Chosen by hand; `fidelio-bench problems` shows a change.
inline constexpr double kLogOddsAlone = 2;

// log s2 = log vf where a search tries a nonlinear link. Chosen by hand.
inline const double kLogLinkStart = std::log(0.1);

// With fewer points of its own, the evidence of a level that stands alone says more about priors than about data: it then
// took weight from links that were right.
inline int PointsToStandAlone(int dimension) { return 2 * dimension + 5; }

// Points above which a fit has one structure per kernel family, and shorter trajectories. Chosen by hand, for speed: one evaluation
// costs O(points³) (`fidelio-bench fit-speed`).
inline constexpr int kMostPointsForStructures = 600;

// The structures that a fit averages over. Each is a choice of warp and trend, once with all levels and, if the highest has enough
// points, once with it alone, so that uninformative lower fidelities do no harm. For data of `counts` observations per level and
// `dimension` inputs. Without a kernel family: all families.
std::vector<Recipe> DefaultStructures(std::optional<KernelFamily> kernel, const std::vector<int>& counts,
                                      int dimension);

// How much work a fit of so many observations does.
SearchSettings MomentSettings(int points);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_RECIPE_H_
