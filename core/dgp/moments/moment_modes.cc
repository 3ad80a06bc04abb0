#include "core/dgp/moments/moment_modes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status_macros.h"
#include "core/optim/laplace.h"

namespace fidelio {
namespace {

constexpr double kSameValue = 0.05;     // two runs of a structure ended at one mode: values this near …
constexpr double kSamePlace = 0.5;      // … and whitened parameters this near, each
constexpr double kFarBelow = 25;        // nats below the best: no evidence makes up for it
constexpr size_t kMostModes = 6;        // whose curvature is measured
constexpr double kNeededWeight = 1e-6;  // of the best mode of all levels, whatever its evidence
constexpr double kPartLogPrior = 2;     // prior log odds of a structure without the lowest levels, as measured to work

}  // namespace

std::vector<ModeState> DistinctModes(const std::vector<StartState>& ends,
                                     const std::vector<std::shared_ptr<const MomentModel>>& structures) {
  const auto first_level = [&](const ModeState& mode) { return structures[mode.structure]->recipe.first_level; };
  std::vector<ModeState> modes;
  for (const StartState& end : ends) {
    if (!std::isfinite(end.value)) continue;
    ModeState mode;
    mode.structure = end.structure;
    mode.z = end.z;
    mode.value = end.value - structures[end.structure]->layout.parameters.LogNormaliser();
    modes.push_back(std::move(mode));
  }
  std::stable_sort(modes.begin(), modes.end(), [&](const ModeState& a, const ModeState& b) {
    return std::pair(first_level(a), a.value) < std::pair(first_level(b), b.value);
  });
  std::vector<ModeState> distinct;
  size_t group = 0;  // where the modes begin that use the same levels
  for (ModeState& mode : modes) {
    if (distinct.size() > group && first_level(distinct[group]) != first_level(mode)) group = distinct.size();
    const auto begin = distinct.begin() + static_cast<std::ptrdiff_t>(group);
    if (distinct.size() == group + kMostModes || (begin != distinct.end() && mode.value > begin->value + kFarBelow)) {
      continue;
    }
    const bool known = std::any_of(begin, distinct.end(), [&](const ModeState& other) {
      return other.structure == mode.structure && std::abs(other.value - mode.value) < kSameValue &&
             (other.z - mode.z).lpNorm<Eigen::Infinity>() < kSamePlace;
    });
    if (!known) distinct.push_back(std::move(mode));
  }
  return distinct;
}

absl::Status MeasureEvidence(std::vector<ModeState>& modes) {
  for (ModeState& mode : modes) {
    FIDELIO_ASSIGN_OR_RETURN(const Curvature curvature, MeasureCurvature(mode.hessian));
    mode.log_evidence = LaplaceEvidence(-mode.value, curvature.values);
    mode.space = WhitenedSpace(mode.z, curvature);
  }
  return absl::OkStatus();
}

absl::Status CompleteEvidence(const std::vector<std::shared_ptr<const MomentModel>>& structures,
                              const MomentRecursion& recursion, std::vector<ModeState>& modes) {
  const ModeState& best = modes[0];
  const MomentModel& whole = *structures[best.structure];
  const ParameterLayout& parameters = whole.layout.parameters;
  const Vector theta = parameters.Centres() + parameters.Scales().cwiseProduct(best.z);
  for (ModeState& mode : modes) {
    const MomentModel& part = *structures[mode.structure];
    const int s = part.recipe.first_level;
    if (s == 0) continue;
    const int begin = whole.layout.Begin(s);
    const int size = parameters.size() - begin;
    FIDELIO_ASSIGN_OR_RETURN(const Curvature curvature, MeasureCurvature(best.hessian.bottomRightCorner(size, size)));
    const double upper = LaplaceEvidence(
        recursion.log_likelihood() - recursion.log_likelihood_below(s) + parameters.LogPriorFrom(begin, theta),
        curvature.values);
    mode.log_evidence += best.log_evidence - upper + kPartLogPrior;
  }
  return absl::OkStatus();
}

void WeighByEvidence(const MomentFitSettings& settings, std::vector<ModeState>& modes) {
  double best = -std::numeric_limits<double>::infinity();
  for (const ModeState& mode : modes) best = std::max(best, mode.log_evidence);
  std::vector<double> sorted;
  double total = 0;
  for (ModeState& mode : modes) {
    mode.weight = std::exp((mode.log_evidence - best) / settings.temperature);
    total += mode.weight;
    sorted.push_back(mode.weight);
  }
  std::sort(sorted.rbegin(), sorted.rend());
  const double admitted = sorted[std::min(sorted.size(), static_cast<size_t>(settings.modes)) - 1];
  double kept = 0;
  for (ModeState& mode : modes) {
    const bool needed = &mode == &modes[0];
    if (mode.weight < std::max(admitted, settings.least_weight * total))
      mode.weight = needed ? kNeededWeight * total : 0;
    kept += mode.weight;
  }
  for (ModeState& mode : modes) mode.weight /= kept;
}

std::vector<ChainState> StartChains(int chains, const std::vector<ModeState>& modes) {
  Vector weights(static_cast<Eigen::Index>(modes.size()));
  for (size_t m = 0; m < modes.size(); ++m) weights[static_cast<Eigen::Index>(m)] = modes[m].weight;
  std::vector<ChainState> result;
  for (const int mode : AllotChains(chains, weights)) {
    ChainState chain;
    chain.mode = mode;
    result.push_back(std::move(chain));
  }
  return result;
}

std::vector<ModeRegion> RegionsOf(const std::vector<ModeState>& modes) {
  std::vector<ModeRegion> regions;
  for (const ModeState& mode : modes) {
    regions.push_back(
        {.space = mode.structure, .log_evidence = mode.log_evidence, .weight = mode.weight, .whitened = mode.space});
  }
  return regions;
}

std::vector<ModeChain> TracesOf(const std::vector<ChainState>& chains) {
  std::vector<ModeChain> traces;
  for (const ChainState& chain : chains) traces.push_back({.mode = chain.mode, .trace = chain.trace});
  return traces;
}

}  // namespace fidelio
