#include "core/dgp/moment_modes.h"

#include <algorithm>
#include <cmath>

#include "Eigen/Eigenvalues"
#include "absl/strings/str_format.h"
#include "core/base/normal.h"

namespace fidelio {
namespace {

constexpr double kSameValue = 0.05;    // two runs of a structure ended at one mode: values this near …
constexpr double kSamePlace = 0.5;     // … and whitened parameters this near, each
constexpr double kFarBelow = 25;       // nats below the best: no evidence makes up for it
constexpr size_t kMostModes = 6;       // whose curvature is measured
constexpr double kLeastCurvature = 1;  // of the posterior, in prior units

}  // namespace

std::vector<ModeState> DistinctModes(const std::vector<StartState>& ends,
                                     const std::vector<std::shared_ptr<const MomentModel>>& structures) {
  std::vector<ModeState> modes;
  for (const StartState& end : ends) {
    if (!std::isfinite(end.value)) continue;
    ModeState mode;
    mode.structure = end.structure;
    mode.z = end.z;
    mode.value = end.value - structures[end.structure]->layout.parameters.LogNormaliser();
    modes.push_back(std::move(mode));
  }
  std::stable_sort(modes.begin(), modes.end(),
                   [](const ModeState& a, const ModeState& b) { return a.value < b.value; });
  std::vector<ModeState> distinct;
  for (ModeState& mode : modes) {
    if (distinct.size() == kMostModes || (!distinct.empty() && mode.value > distinct[0].value + kFarBelow)) break;
    const bool known = std::any_of(distinct.begin(), distinct.end(), [&](const ModeState& other) {
      return other.structure == mode.structure && std::abs(other.value - mode.value) < kSameValue &&
             (other.z - mode.z).lpNorm<Eigen::Infinity>() < kSamePlace;
    });
    if (!known) distinct.push_back(std::move(mode));
  }
  return distinct;
}

absl::Status WeighByEvidence(const MomentFitSettings& settings, std::vector<ModeState>& modes) {
  double best = -std::numeric_limits<double>::infinity();
  for (ModeState& mode : modes) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(0.5 * (mode.hessian + mode.hessian.transpose()));
    if (eigen.info() != Eigen::Success || !eigen.eigenvalues().allFinite()) {
      return absl::InternalError(absl::StrFormat("Hessian (%d×%d) of the log posterior has no eigenvalues",
                                                 mode.hessian.rows(), mode.hessian.cols()));
    }
    const Vector curvature = eigen.eigenvalues().cwiseMax(kLeastCurvature);
    mode.log_evidence =
        -mode.value + 0.5 * static_cast<double>(mode.z.size()) * kLogTwoPi - 0.5 * curvature.array().log().sum();
    mode.space.origin = mode.z;
    mode.space.basis = eigen.eigenvectors() * curvature.cwiseSqrt().cwiseInverse().asDiagonal();
    best = std::max(best, mode.log_evidence);
  }
  std::vector<double> sorted;
  double total = 0;
  for (ModeState& mode : modes) {
    mode.weight = std::exp((mode.log_evidence - best) / settings.temperature);
    total += mode.weight;
    sorted.push_back(mode.weight);
  }
  std::sort(sorted.rbegin(), sorted.rend());
  const double admitted = sorted[std::min(sorted.size(), static_cast<size_t>(settings.chains)) - 1];
  double kept = 0;
  for (ModeState& mode : modes) {
    if (mode.weight < std::max(admitted, settings.least_weight * total)) mode.weight = 0;
    kept += mode.weight;
  }
  for (ModeState& mode : modes) mode.weight /= kept;
  return absl::OkStatus();
}

std::vector<ChainState> AllotChains(int chains, const std::vector<ModeState>& modes) {
  std::vector<int> allotted(modes.size(), 0);
  std::vector<ChainState> result;
  const auto give = [&](size_t m) {
    ++allotted[m];
    ChainState chain;
    chain.mode = static_cast<int>(m);
    result.push_back(std::move(chain));
  };
  for (size_t m = 0; m < modes.size(); ++m) {
    if (modes[m].weight > 0) give(m);
  }
  while (static_cast<int>(result.size()) < chains) {
    size_t best = 0;
    for (size_t m = 1; m < modes.size(); ++m) {
      if (modes[m].weight / (allotted[m] + 1) > modes[best].weight / (allotted[best] + 1)) best = m;
    }
    give(best);
  }
  return result;
}

}  // namespace fidelio
