// NeighbourParameters: the hyperparameters of one neighbour layer, and where they sit in its θ.
//
// First layer:  ls[D] v n mu              amplitude v, noise standard deviation n, mean mu
// Upper layer:  lsr[D] (terms of the link) lsd[D] vd va rh n      as in core/dgp/moments/moment_layout.h
// All are logarithms but mu and rh (ρ); n is absent where the noise is given. Priors: neighbour_priors.h, and those of the terms
// (core/kernel/link_terms.h).
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_PARAMETERS_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_PARAMETERS_H_

#include "core/base/types.h"
#include "core/fit/common_priors.h"
#include "core/kernel/link_kernel.h"
#include "core/param/layout.h"

namespace fidelio {

struct NeighbourLayout {
  ParameterLayout parameters;
  int dimension = 0;
  bool first = true;
  int lengthscale = -1, amplitude = -1, mean = -1;                                                  // of a first layer
  int rho_lengthscale = -1, terms = -1, delta_lengthscale = -1, delta = -1, offset = -1, rho = -1;  // of an upper one
  int noise = -1;                                                                                   // −1: given

  NeighbourLayout(int dimension, bool first, bool learn_noise);
};

// θ decoded.
struct NeighbourParameters {
  Vector inverse;                  // D: 1/lengthscale of the kernel over x; in an upper layer that of k_delta
  double amplitude = 0, mean = 0;  // of a first layer
  Vector rho_inverse;              // D, of an upper layer, as the following
  LinkScalars scalars;
  double offset = 0;
  double noise = kNoiseFloor;  // learned variance, with the floor

  NeighbourParameters(const NeighbourLayout& layout, const ConstVectorRef& theta);
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_PARAMETERS_H_
