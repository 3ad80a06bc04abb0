#include "core/fit/search_modes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status_macros.h"
#include "core/optim/laplace.h"

namespace fidelio {

std::vector<SearchMode> DistinctModes(const std::vector<SearchStart>& ends, const Target& target) {
  const auto first_level = [&](const SearchMode& mode) { return target.FirstLevel(mode.structure); };
  std::vector<SearchMode> modes;
  for (const SearchStart& end : ends) {
    if (!std::isfinite(end.value)) continue;
    modes.push_back({.structure = end.structure,
                     .z = end.z,
                     .value = end.value - target.parameters(end.structure).LogNormaliser()});
  }
  std::stable_sort(modes.begin(), modes.end(), [&](const SearchMode& a, const SearchMode& b) {
    return std::pair(first_level(a), a.value) < std::pair(first_level(b), b.value);
  });
  std::vector<SearchMode> distinct;
  size_t group = 0;  // where the modes begin that explain the same levels
  for (SearchMode& mode : modes) {
    if (distinct.size() > group && first_level(distinct[group]) != first_level(mode)) group = distinct.size();
    const auto begin = distinct.begin() + static_cast<std::ptrdiff_t>(group);
    if (distinct.size() == group + kMostModes || (begin != distinct.end() && mode.value > begin->value + kFarBelow)) {
      continue;
    }
    const bool known = std::any_of(begin, distinct.end(), [&](const SearchMode& other) {
      return other.structure == mode.structure && std::abs(other.value - mode.value) < kSameValue &&
             (other.z - mode.z).lpNorm<Eigen::Infinity>() < kSamePlace;
    });
    if (!known) distinct.push_back(std::move(mode));
  }
  return distinct;
}

absl::Status MeasureEvidence(const Target& target, std::vector<SearchMode>& modes) {
  for (SearchMode& mode : modes) {
    FIDELIO_ASSIGN_OR_RETURN(const Curvature curvature, MeasureCurvature(mode.hessian));
    mode.log_evidence = LaplaceEvidence(-mode.value, curvature.values);
  }
  return target.CompleteEvidence(modes);
}

void WeighByEvidence(const SearchSettings& settings, std::vector<SearchMode>& modes) {
  Vector log_evidence(static_cast<Eigen::Index>(modes.size()));
  for (size_t m = 0; m < modes.size(); ++m) log_evidence[static_cast<Eigen::Index>(m)] = modes[m].log_evidence;
  const Vector weights = WeightsByEvidence(log_evidence, settings.temperature, settings.modes, settings.least_weight,
                                           settings.first_weight);
  for (size_t m = 0; m < modes.size(); ++m) modes[m].weight = weights[static_cast<Eigen::Index>(m)];
}

}  // namespace fidelio
