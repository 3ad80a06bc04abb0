#include "core/dgp/structures.h"

#include <algorithm>
#include <cmath>

namespace fidelio {
namespace {

constexpr int kMedium = 250;  // points up to which a fit does all that it can
constexpr int kLarge = 600;   // points above which one structure must do

void AddStructures(KernelFamily kernel, int points, std::vector<Recipe>& structures) {
  Recipe warped = DefaultRecipe(kernel);
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

std::vector<Recipe> DefaultStructures(std::optional<KernelFamily> kernel, int points) {
  std::vector<Recipe> structures;
  if (kernel) {
    AddStructures(*kernel, points, structures);
  } else {
    for (const KernelFamily family : kAllKernelFamilies) AddStructures(family, points, structures);
  }
  return structures;
}

MomentFitSettings SettingsFor(int points) {
  MomentFitSettings s;
  if (points <= kMedium) return s;
  const double share = std::pow(static_cast<double>(kMedium) / points, 2);
  const int draws = std::max(1, static_cast<int>(share * s.transitions / s.thin));  // per chain
  s.transitions = std::max(5, static_cast<int>(share * s.transitions));
  s.thin = s.transitions / draws;
  s.warmup = std::max(6, static_cast<int>(share * s.warmup));
  if (points > kLarge) s.leapfrogs = 5;
  return s;
}

}  // namespace fidelio
