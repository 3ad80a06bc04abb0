#include "core/dgp/moments/moment_layout.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/kernel/link_terms.h"

namespace fidelio {
namespace {

Prior Shifted(Prior prior, double by) {
  prior.centre += by;
  return prior;
}

}  // namespace

MomentLayout::MomentLayout(const Recipe& recipe, int dimension, const std::vector<bool>& learn_noise,
                           bool learn_first) {
  const double half_log_d = 0.5 * std::log(dimension);
  const int levels = static_cast<int>(learn_noise.size());
  ParameterLayout& p = parameters;
  noise.assign(levels, -1);
  trend.assign(levels, -1);
  lengthscale_centre = recipe.lengthscale.centre + half_log_d;
  if (learn_first) {
    first.lengthscale = p.Add("ls0", dimension, Shifted(recipe.lengthscale, half_log_d));
    if (recipe.warp) first.warp = p.Add("cw", dimension, recipe.warp_strength);
    first.amplitude = p.Add("v0", 1, recipe.amplitude);
    if (learn_noise[0]) noise[0] = p.Add("n0", 1, recipe.noise);
    first.mean = p.Add("mu0", 1, recipe.mean);
    if (recipe.trend) trend[0] = p.Add("vl0", 1, recipe.trend_amplitude);
  }
  for (int t = 1; t < levels; ++t) {
    const auto name = [t](const char* stem) { return absl::StrCat(stem, t); };
    UpperLayerOffsets o;
    o.rho_lengthscale = p.Add(name("lsr"), dimension, Shifted(recipe.rho_lengthscale, half_log_d));
    o.terms = AddLinkParameters(
        name(""), [&](const LinkParameter& q) { return PriorOf(recipe, q); }, p);
    o.linear = o.terms + LinkParameterPlace("s2");
    o.nonlinear = o.terms + LinkParameterPlace("vf");
    o.delta_lengthscale = p.Add(name("lsd"), dimension, Shifted(recipe.delta_lengthscale, half_log_d));
    o.delta = p.Add(name("vd"), 1, recipe.delta);
    o.offset = p.Add(name("va"), 1, recipe.offset);
    o.rho = p.Add(name("rh"), 1, recipe.rho);
    if (learn_noise[t]) noise[t] = p.Add(name("n"), 1, recipe.noise);
    if (recipe.trend) trend[t] = p.Add(name("vl"), 1, recipe.delta_trend);
    upper.push_back(o);
  }
}

}  // namespace fidelio
