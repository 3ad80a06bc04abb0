#include "core/fit/mode_chains.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/status_macros.h"
#include "core/optim/chain_statistics.h"
#include "core/optim/laplace.h"

namespace fidelio {
namespace {

using Eigen::Index;

ChainTrace AsTrace(const std::vector<Vector>& points) {
  ChainTrace trace(points.empty() ? 0 : points[0].size(), static_cast<Index>(points.size()));
  for (size_t i = 0; i < points.size(); ++i) trace.col(static_cast<Index>(i)) = points[i];
  return trace;
}

// Where most points of a chain lie; `spaces` have the modes' Gaussians.
int RegionOf(const SearchChain& chain, const std::vector<SearchMode>& modes, const std::vector<HmcSpace>& spaces) {
  std::vector<int> visits(modes.size(), 0);
  std::vector<Eigen::PartialPivLU<Matrix>> whiten(modes.size());
  std::vector<int> rivals;
  for (size_t m = 0; m < modes.size(); ++m) {
    if (modes[m].structure != modes[chain.mode].structure || !(modes[m].weight > 0)) continue;
    rivals.push_back(static_cast<int>(m));
    whiten[m].compute(spaces[m].basis);
  }
  if (rivals.size() < 2) return chain.mode;
  for (const Vector& point : chain.trace) {
    int nearest = chain.mode;
    double best = -std::numeric_limits<double>::infinity();
    for (const int m : rivals) {
      // log Z + log N(point; mode): the evidence cancels the volume of the mode, its height remains.
      const double log_density = modes[m].log_evidence - whiten[m].matrixLU().diagonal().array().abs().log().sum() -
                                 0.5 * whiten[m].solve(point - modes[m].z).squaredNorm();
      if (log_density > best) {
        best = log_density;
        nearest = m;
      }
    }
    ++visits[nearest];
  }
  const auto most = std::max_element(visits.begin(), visits.end());
  return 2 * *most > static_cast<int>(chain.trace.size()) ? static_cast<int>(most - visits.begin()) : chain.mode;
}

}  // namespace

absl::StatusOr<SamplingSpace> SpaceForSampling(const Vector& inverse_shapes, const Vector& z, const Matrix& hessian) {
  LightTails tails(inverse_shapes);
  const Vector u = tails.U(z);
  FIDELIO_ASSIGN_OR_RETURN(const Curvature curvature, MeasureCurvature(tails.Hessian(u, hessian)));
  return SamplingSpace(std::move(tails), WhitenedSpace(u, curvature));
}

std::vector<SearchChain> AllotChains(int chains, const std::vector<SearchMode>& modes) {
  std::vector<int> allotted(modes.size(), 0);
  std::vector<SearchChain> result;
  const auto give = [&](size_t mode) {
    ++allotted[mode];
    result.push_back({.mode = static_cast<int>(mode)});
  };
  for (int round = 0; round < kChainsPerMode; ++round) {
    for (size_t m = 0; m < modes.size(); ++m) {
      if (modes[m].weight > 0) give(m);
    }
  }
  while (static_cast<int>(result.size()) < chains) {
    size_t best = 0;
    const auto per_chain = [&](size_t m) { return modes[m].weight / (allotted[m] + 1); };
    for (size_t m = 1; m < modes.size(); ++m) best = per_chain(m) > per_chain(best) ? m : best;
    give(best);
  }
  return result;
}

absl::StatusOr<ChainsReport> ReportChains(const std::vector<SearchChain>& chains,
                                          const std::vector<SearchMode>& modes) {
  std::vector<HmcSpace> spaces;
  for (const SearchMode& mode : modes) {
    FIDELIO_ASSIGN_OR_RETURN(const Curvature curvature, MeasureCurvature(mode.hessian));
    spaces.push_back(WhitenedSpace(mode.z, curvature));
  }
  ChainsReport report;
  report.weight.setZero(static_cast<Index>(modes.size()));
  std::vector<std::vector<ChainTrace>> traces(modes.size());
  std::vector<char> abandoned(modes.size(), 1);
  for (const SearchChain& chain : chains) {
    const int region = RegionOf(chain, modes, spaces);
    report.region.push_back(region);
    report.weight[region] = modes[region].weight;
    if (region == chain.mode) abandoned[region] = 0;
    if (region != chain.mode) ++report.moved;
    traces[region].push_back(AsTrace(chain.trace));
  }
  for (size_t c = 0; c < chains.size(); ++c) {
    if (!abandoned[chains[c].mode]) continue;
    double& weight = report.weight[report.region[c]];
    weight = std::max(weight, modes[chains[c].mode].weight);
  }
  if (report.weight.sum() > 0) report.weight /= report.weight.sum();
  double inverse = 0;
  bool known = !chains.empty();
  for (size_t m = 0; m < modes.size(); ++m) {
    const double weight = report.weight[static_cast<Index>(m)];
    if (!(weight > 0)) continue;
    const double size = EffectiveSize(traces[m]);
    known = known && size > 0;
    report.r_hat = std::max(report.r_hat, SplitRHat(traces[m]));
    inverse += weight * weight / size;
  }
  if (!known) report.r_hat = 0;
  report.effective_size = known ? 1 / inverse : 0;
  return report;
}

std::vector<WeightedPoint> PointsOfModes(const std::vector<SearchChain>& chains, const std::vector<SearchMode>& modes,
                                         const ChainsReport& report, int draws) {
  std::vector<WeightedPoint> result;
  const size_t per_chain = chains.empty() ? 0 : std::max<size_t>(1, static_cast<size_t>(draws) / chains.size());
  for (Index m = 0; m < report.weight.size(); ++m) {
    if (!(report.weight[m] > 0)) continue;
    std::vector<Vector> points;
    for (size_t c = 0; c < chains.size(); ++c) {
      const std::vector<Vector>& trace = chains[c].trace;
      const size_t kept = report.region[c] == m ? std::min(trace.size(), per_chain) : 0;
      for (size_t i = 1; i <= kept; ++i) points.push_back(trace[i * trace.size() / kept - 1]);
    }
    if (points.empty()) points.push_back(modes[static_cast<size_t>(m)].z);
    const double weight = report.weight[m] / static_cast<double>(points.size());
    for (Vector& z : points) result.push_back({.mode = static_cast<int>(m), .weight = weight, .z = std::move(z)});
  }
  return result;
}

}  // namespace fidelio
