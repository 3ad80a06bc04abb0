#include "core/dgp/moments/structures.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace fidelio {
namespace {

constexpr int kMedium = 250;  // points up to which a fit does all that it can
constexpr int kLarge = 600;   // points above which one structure must do

// With fewer points of its own, the evidence of a level that stands alone says more about priors than about data: it then
// took weight from links that were right.
int PointsToStandAlone(int dimension) { return 2 * dimension + 5; }

void AddStructures(KernelFamily kernel, int points, int first_level, std::vector<Recipe>& structures) {
  Recipe warped = DefaultRecipe(kernel);
  warped.first_level = first_level;
  warped.warp = true;
  warped.trend = false;
  Recipe both = warped;
  both.trend = true;
  Recipe trend = both;
  trend.warp = false;
  if (points > kLarge) {
    structures.push_back(both);
  } else {
    structures.insert(structures.end(), {warped, both, trend});
  }
}

}  // namespace

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

MomentFitSettings SettingsFor(int points) {
  MomentFitSettings s;
  if (points <= kMedium) return s;
  const double share = std::pow(static_cast<double>(kMedium) / points, 2);
  s.draws = std::max(s.chains, static_cast<int>(share * s.draws));
  s.transitions = std::max(5, static_cast<int>(share * s.transitions));
  s.warmup = std::max(6, static_cast<int>(share * s.warmup));
  if (points > kLarge) s.leapfrogs = 5;
  return s;
}

}  // namespace fidelio
