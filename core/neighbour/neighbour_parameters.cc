#include "core/neighbour/neighbour_parameters.h"

#include <cmath>

#include "core/kernel/link_terms.h"
#include "core/neighbour/neighbour_priors.h"

namespace fidelio {

NeighbourLayout::NeighbourLayout(int d, bool is_first, bool learn_noise) : dimension(d), first(is_first) {
  ParameterLayout& p = parameters;
  if (first) {
    lengthscale = p.Add("ls", d, WideLengthscalePrior(d));
    amplitude = p.Add("v", 1, WideAmplitudePrior());
    if (learn_noise) noise = p.Add("n", 1, WideNoisePrior());
    mean = p.Add("mu", 1, FirstMeanPrior());
    return;
  }
  rho_lengthscale = p.Add("lsr", d, WideRhoLengthscalePrior(d));
  terms = AddLinkParameters(
      "", [](const LinkParameter& q) { return q.prior; }, p);
  delta_lengthscale = p.Add("lsd", d, WideLengthscalePrior(d));
  delta = p.Add("vd", 1, WideDeltaPrior());
  offset = p.Add("va", 1, OffsetPrior());
  rho = p.Add("rh", 1, RhoPrior());
  if (learn_noise) noise = p.Add("n", 1, WideNoisePrior());
}

NeighbourParameters::NeighbourParameters(const NeighbourLayout& layout, const ConstVectorRef& theta) {
  const auto inverse_of = [&](int at) -> Vector { return (-theta.segment(at, layout.dimension).array()).exp(); };
  if (layout.first) {
    inverse = inverse_of(layout.lengthscale);
    amplitude = std::exp(theta[layout.amplitude]);
    mean = theta[layout.mean];
  } else {
    inverse = inverse_of(layout.delta_lengthscale);
    rho_inverse = inverse_of(layout.rho_lengthscale);
    scalars = {.terms = {}, .delta = std::exp(theta[layout.delta]), .rho = theta[layout.rho]};
    SetLinkTerms(theta, layout.terms, scalars.terms);
    offset = std::exp(theta[layout.offset]);
  }
  if (layout.noise >= 0) noise += std::exp(2 * theta[layout.noise]);
}

}  // namespace fidelio
