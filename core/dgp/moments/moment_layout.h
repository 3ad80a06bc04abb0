// MomentLayout: where each hyperparameter of a moment-matched MF-DGP sits in θ.
//
// Layer 1:  ls0[D] cw[D] v0 n0 mu0 vl0        Layer t: lsr[D] (terms of the link) lsd[D] vd va rh n vl
// All are logarithms but cw (warp), mu0 (mean) and rh (ρ). Absent terms have offset −1; so has all of a layer 1 that is given.
#ifndef FIDELIO_CORE_DGP_MOMENTS_MOMENT_LAYOUT_H_
#define FIDELIO_CORE_DGP_MOMENTS_MOMENT_LAYOUT_H_

#include <vector>

#include "core/dgp/moments/recipe.h"
#include "core/param/layout.h"

namespace fidelio {

struct FirstLayerOffsets {
  int lengthscale = -1, warp = -1, amplitude = -1, mean = -1;
};
struct UpperLayerOffsets {
  int rho_lengthscale = -1, terms = -1, delta_lengthscale = -1, delta = -1, offset = -1, rho = -1;
  int linear = -1, nonlinear = -1;  // of the terms: log s2 and log vf
};

struct MomentLayout {
  ParameterLayout parameters;
  FirstLayerOffsets first;
  std::vector<UpperLayerOffsets> upper;  // upper[t−1] for level t ≥ 1
  std::vector<int> noise;                // per level; −1 where the noise is given
  std::vector<int> trend;                // per level; −1 without a trend
  double lengthscale_centre = 0;         // of layer 1, with the ½ log D

  bool learns_first() const { return first.lengthscale >= 0; }  // layer 1 has hyperparameters

  // Parameters of levels ≥ level are those from here on.
  int Begin(int level) const { return level == 0 ? 0 : upper[level - 1].rho_lengthscale; }

  // `learn_noise[t]`: level t's noise is a parameter. `learn_first`: layer 1 is learned (first_layer.h).
  MomentLayout(const Recipe& recipe, int dimension, const std::vector<bool>& learn_noise, bool learn_first = true);
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_MOMENTS_MOMENT_LAYOUT_H_
