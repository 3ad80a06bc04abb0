#include "core/dgp/moments/moment_starts.h"

#include <cmath>

namespace fidelio {
namespace {

constexpr double kShorter = 1.8;  // log ratio of short lengthscales to the prior's centre

}  // namespace

std::vector<Vector> StructuredStarts(const MomentModel& model) {
  const MomentLayout& layout = model.layout;
  const Vector centres = layout.parameters.Centres(), scales = layout.parameters.Scales();
  const int d = model.data.dimension();
  Vector decoupled = centres, nonlinear = centres;
  for (size_t t = 1; t <= layout.upper.size(); ++t) {
    const UpperLayerOffsets& o = layout.upper[t - 1];
    decoupled[o.rho] = 0;
    decoupled[o.delta] = 0;
    if (layout.trend[t] >= 0) decoupled[layout.trend[t]] = 0;
    nonlinear[o.linear] = nonlinear[o.nonlinear] = std::log(0.1);
  }
  Vector wiggly = nonlinear;
  if (!layout.learns_first()) {
    for (const UpperLayerOffsets& o : layout.upper) wiggly.segment(o.delta_lengthscale, d).array() -= kShorter;
  } else {
    wiggly.segment(layout.first.lengthscale, d).array() -= kShorter;
    for (const UpperLayerOffsets& o : layout.upper) {  // undoes the tie to layer 1
      wiggly.segment(o.rho_lengthscale, d).array() += model.recipe.tie * kShorter;
      wiggly.segment(o.delta_lengthscale, d).array() += model.recipe.tie * kShorter;
    }
  }
  std::vector<Vector> starts = {centres, wiggly};
  if (!layout.upper.empty()) starts = {centres, decoupled, nonlinear, wiggly};
  for (Vector& s : starts) s = (s - centres).cwiseQuotient(scales);
  return starts;
}

}  // namespace fidelio
