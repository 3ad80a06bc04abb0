#include "core/dgp/moments/output_units.h"

#include <cmath>

namespace fidelio {

OutputUnits UnitsOf(const Scaling& own, const Scaling& model) {
  return {.ratio = own.output_sd / model.output_sd, .shift = (own.output_mean - model.output_mean) / model.output_sd};
}

Recipe InUnits(Recipe recipe, const OutputUnits& units) {
  const double log_ratio = std::log(units.ratio);
  recipe.amplitude.centre += 2 * log_ratio;
  recipe.trend_amplitude.centre += 2 * log_ratio;
  recipe.noise.centre += log_ratio;
  recipe.noise_floor *= units.ratio * units.ratio;
  recipe.mean.centre = recipe.mean.centre * units.ratio + units.shift;
  recipe.mean.scale *= units.ratio;
  return recipe;
}

Vector InUnits(Vector theta, const MomentLayout& layout, const OutputUnits& units) {
  const double log_ratio = std::log(units.ratio);
  theta[layout.first.amplitude] += 2 * log_ratio;
  theta[layout.first.mean] = theta[layout.first.mean] * units.ratio + units.shift;
  if (layout.noise[0] >= 0) theta[layout.noise[0]] += log_ratio;
  if (layout.trend[0] >= 0) theta[layout.trend[0]] += 2 * log_ratio;
  return theta;
}

}  // namespace fidelio
