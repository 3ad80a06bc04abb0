#include "core/dgp/moments/recipe.h"

#include <iterator>
#include <numeric>

#include "absl/strings/string_view.h"
#include "core/fit/common_priors.h"

namespace fidelio {
namespace {

void AddStructures(KernelFamily kernel, int points, int first_level, std::vector<Recipe>& structures) {
  Recipe warped = DefaultRecipe(kernel);
  warped.first_level = first_level;
  warped.warp = true;
  warped.trend = false;
  Recipe both = warped;
  both.trend = true;
  Recipe trend = both;
  trend.warp = false;
  if (points > kMostPointsForStructures) {
    structures.push_back(both);
  } else {
    structures.insert(structures.end(), {warped, both, trend});
  }
}

}  // namespace

// Chosen by hand, together, on the tuning set that `fidelio-bench problems` prints; `fidelio-bench table1` is other data. All are
// logarithms but warp strength, mean and ρ.
Recipe DefaultRecipe(KernelFamily kernel) {
  Recipe r;
  r.kernel = kernel;
  // p + ½p² of p = 12/D·x̃·x̃' (MomentModel::TrendKernel): a slope with some bend.
  r.trend_curvature = 0.5;
  // A level differs from ρ f_{t−1} by a constant, or is proportional to it, half each: the latter helped on borehole.
  r.links = {{.offset = true, .raw_zero = false, .weight = 0.5}, {.offset = false, .raw_zero = true, .weight = 0.5}};
  r.noise_floor = kNoiseFloor;
  r.tie = kTie;

  // The layout shifts lengthscales by ½ log D: here they are those of one input.
  r.lengthscale = FirstLengthscalePrior(1);
  r.warp_strength = Prior::Normal(0, 1);
  r.amplitude = FirstAmplitudePrior();
  r.mean = FirstMeanPrior();
  r.trend_amplitude = Prior::Student(std::log(0.1), 2.5, 4);

  r.noise = NoisePrior();

  // Links change slowly with x.
  r.rho_lengthscale = Prior::Normal(1.2, 0.6);
  // Small, with heavy tails: links are straight, f_t = ρ f_{t−1} + discrepancy, unless the data ask for more.
  r.linear = Prior::Student(std::log(3e-5), 2.2, 4);
  r.nonlinear = Prior::Student(std::log(3e-5), 2.2, 4);
  r.nonlinear_lengthscale = NonlinearLengthscalePrior();
  r.delta_lengthscale = DeltaLengthscalePrior(1);
  r.delta = Prior::Student(std::log(0.05), 2.3, 4);
  r.offset = OffsetPrior();
  r.delta_trend = Prior::Student(std::log(1e-2), 2.5, 4);
  r.rho = RhoPrior();
  return r;
}

const Prior& PriorOf(const Recipe& recipe, const LinkParameter& parameter) {
  const absl::string_view name = parameter.name;
  if (name == "s2") return recipe.linear;
  if (name == "vf") return recipe.nonlinear;
  if (name == "lf") return recipe.nonlinear_lengthscale;
  return parameter.prior;
}

bool SameStructure(const Recipe& a, const Recipe& b) {
  return a.first_level == b.first_level && a.kernel == b.kernel && a.warp == b.warp && a.trend == b.trend &&
         a.trend_curvature == b.trend_curvature && a.tie == b.tie && a.lengthscale.centre == b.lengthscale.centre &&
         a.links.size() == b.links.size();
}

std::vector<Recipe> DefaultStructures(std::optional<KernelFamily> kernel, const std::vector<int>& counts,
                                      int dimension) {
  const int points = std::accumulate(counts.begin(), counts.end(), 0);
  const int top = static_cast<int>(counts.size()) - 1;
  std::vector<KernelFamily> families(std::begin(kAllKernelFamilies), std::end(kAllKernelFamilies));
  if (kernel) families = {*kernel};
  std::vector<Recipe> structures;
  for (const KernelFamily family : families) AddStructures(family, points, 0, structures);
  if (top > 0 && counts[top] >= PointsToStandAlone(dimension)) {
    for (const KernelFamily family : families) AddStructures(family, points, top, structures);
  }
  return structures;
}

SearchSettings MomentSettings(int points) {
  SearchSettings settings;
  settings.first_weight = 1e-6;  // structures of the highest level alone do not predict the others
  settings = settings.For(points);
  if (points > kMostPointsForStructures) settings.leapfrogs = 5;
  return settings;
}

}  // namespace fidelio
