#include "core/neighbour/neighbour_parameters.h"

#include <cmath>

#include "core/kernel/link_terms.h"

namespace fidelio {

NeighbourLayout::NeighbourLayout(int d, bool is_first, bool learn_noise) : dimension(d), first(is_first) {
  const double half_log_d = 0.5 * std::log(d);
  ParameterLayout& p = parameters;
  if (first) {
    lengthscale = p.Add("ls", d, Prior::Normal(half_log_d - 1, 2));
    amplitude = p.Add("v", 1, Prior::Normal(0, 2));
    if (learn_noise) noise = p.Add("n", 1, Prior::Normal(std::log(3e-2), 2));
    mean = p.Add("mu", 1, Prior::Normal(0, 1.5));
    return;
  }
  rho_lengthscale = p.Add("lsr", d, Prior::Normal(half_log_d, 1.5));
  terms = AddLinkParameters(
      "", [](const LinkParameter& q) { return q.prior; }, p);
  delta_lengthscale = p.Add("lsd", d, Prior::Normal(half_log_d - 1, 2));
  delta = p.Add("vd", 1, Prior::Normal(std::log(0.1), 2.5));
  offset = p.Add("va", 1, Prior::Normal(std::log(0.1), 2.5));
  rho = p.Add("rh", 1, Prior::Normal(1, 0.7));
  if (learn_noise) noise = p.Add("n", 1, Prior::Normal(std::log(3e-2), 2));
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
