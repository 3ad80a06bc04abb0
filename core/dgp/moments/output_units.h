// A structure of one level has priors for outputs standardised by that level's own mean and standard deviation. A model scales
// outputs once, so that the likelihoods of its structures can be compared: such priors, and draws of older checkpoints, are
// brought to the model's units.
#ifndef FIDELIO_CORE_DGP_MOMENTS_OUTPUT_UNITS_H_
#define FIDELIO_CORE_DGP_MOMENTS_OUTPUT_UNITS_H_

#include "core/data/scaled_data.h"
#include "core/dgp/moments/moment_layout.h"
#include "core/dgp/moments/recipe.h"

namespace fidelio {

// An output o in a level's own units is o·ratio + shift in the model's.
struct OutputUnits {
  double ratio = 1, shift = 0;

  bool Differ() const { return ratio != 1 || shift != 0; }
};

OutputUnits UnitsOf(const Scaling& own, const Scaling& model);

// The same priors in the model's units: of layer 1 and the noise, which is all that a structure of one level has.
Recipe InUnits(Recipe recipe, const OutputUnits& units);

// The same hyperparameters of layer 1 in the model's units.
Vector InUnits(Vector theta, const MomentLayout& layout, const OutputUnits& units);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_OUTPUT_UNITS_H_
