#include "core/neighbour/upper_fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/moment_posterior.h"
#include "core/emulator/stacking_weights.h"
#include "core/fit/fit_bytes.h"
#include "core/fit/search.h"
#include "core/neighbour/neighbour_priors.h"
#include "core/neighbour/upper_recipes.h"

namespace fidelio {
namespace {

using Eigen::Index;

// So many numbers below n, ascending.
std::vector<int> RandomSubset(int n, int count, uint64_t seed) {
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  Random random(seed, StreamOf(RandomUse::kUpperSketch));
  for (int i = 0; i < count; ++i) {
    std::swap(all[i], all[i + static_cast<size_t>(random.NextBits() % static_cast<uint64_t>(n - i))]);
  }
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

class UpperRunner {
 public:
  UpperRunner(const UpperFitRequest& request, FitBudget& budget)
      : request_(request),
        options_(request.options),
        budget_(budget),
        upper_(request.stack, request.data, request.scaling, request.options.threads),
        used_(request.iterations) {}

  absl::StatusOr<UpperFitResult> Run(SharedSearchState& sketch, SharedSearchState& state) {
    const int n = static_cast<int>(upper_.data().y.size());
    const bool integrate = n <= kMostIntegrated;
    UpperFitResult result{.recipes = UpperRecipes(request_.stack, options_.kernel, n), .draws = {}, .report = {}};
    std::vector<SearchStart> starts = WarmStarts(result.recipes);
    if (!integrate && starts.empty()) {
      FIDELIO_ASSIGN_OR_RETURN(starts, Sketch(result.recipes, n, sketch));
    }
    const MomentTarget target = Target(result.recipes, nullptr);
    SearchRequest part{.target = target,
                       .settings = MomentSettings(n),
                       .extra_starts = std::move(starts),
                       .only_extra_starts = !integrate};
    if (!integrate) part.settings.chains = 0;
    const double begun = kStackShare + (integrate ? 0 : kSketchShare);
    FIDELIO_ASSIGN_OR_RETURN(SearchResult found, RunPart(std::move(part), state, begun, 1 - begun));
    result.draws = std::move(found.draws);
    if (!integrate) FIDELIO_RETURN_IF_ERROR(Average(target, state.Copy().starts, result));
    result.report = found.report;
    KeepUsed(result);
    return result;
  }

 private:
  // For each structure that the warm start has, too, one of its draws: enough to find its mode.
  std::vector<SearchStart> WarmStarts(const std::vector<Recipe>& recipes) const {
    std::vector<SearchStart> starts;
    for (size_t k = 0; k < recipes.size(); ++k) {
      for (const MomentDraw& draw : request_.warm.draws) {
        const Recipe& known = request_.warm.recipes[draw.structure];
        if (known.kernel != recipes[k].kernel || known.trend != recipes[k].trend ||
            known.links.size() != recipes[k].links.size()) {
          continue;
        }
        const MomentLayout layout =
            UpperPoints::Layout(recipes[k], upper_.data().dimension(), upper_.data().learn_noise);
        if (draw.theta.size() != layout.parameters.size()) continue;
        starts.push_back({.structure = static_cast<int>(k), .z = layout.parameters.Whitened(draw.theta)});
        break;
      }
    }
    return starts;
  }

  // Of all observations, or of those that `rows` names.
  MomentTarget Target(const std::vector<Recipe>& recipes, const std::vector<int>* rows) const {
    std::vector<std::shared_ptr<const MomentModel>> models;
    for (const Recipe& recipe : recipes) {
      models.push_back(rows != nullptr ? upper_.Model(recipe, *rows) : upper_.Model(recipe));
    }
    return MomentTarget(std::move(models));
  }

  // Runs a part of the fit with what is left of the budget.
  absl::StatusOr<SearchResult> RunPart(SearchRequest part, SharedSearchState& state, double begin, double share) {
    part.seed = options_.seed;
    part.threads = options_.threads;
    part.max_iterations = std::max<int64_t>(1, options_.max_iterations - used_);
    FIDELIO_RETURN_IF_ERROR(CheckSearch(state.Copy(), part.extra_starts, part.target));
    budget_.SetPart(begin, share);
    absl::StatusOr<SearchResult> result = RunSearch(part, budget_, state);
    used_ += IterationsOf(state.Copy());
    return result;
  }

  // The best modes of different structures on some of the observations.
  absl::StatusOr<std::vector<SearchStart>> Sketch(const std::vector<Recipe>& recipes, int n, SharedSearchState& state) {
    const std::vector<int> rows = RandomSubset(n, kSketch, options_.seed);
    const MomentTarget target = Target(recipes, &rows);
    SearchRequest part{.target = target, .settings = {}};
    part.settings.chains = 0;
    FIDELIO_RETURN_IF_ERROR(RunPart(std::move(part), state, kStackShare, kSketchShare).status());
    std::vector<SearchStart> starts;
    std::vector<bool> used(recipes.size(), false);
    for (const SearchMode& mode : state.Copy().modes) {  // the best first
      if (used[mode.structure] || static_cast<int>(starts.size()) == kSketchStarts) continue;
      used[mode.structure] = true;
      starts.push_back({.structure = mode.structure, .z = mode.z});
    }
    return starts;
  }

  // Instead of the best mode alone, the modes that were followed, weighted by what they say about observations left out.
  absl::Status Average(const MomentTarget& target, const std::vector<SearchStart>& modes,
                       UpperFitResult& result) const {
    const Vector& y = upper_.data().y;
    std::vector<MomentDraw> draws;
    Matrix log_density(static_cast<Index>(modes.size()), y.size());
    for (const SearchStart& mode : modes) {
      if (!mode.done || !std::isfinite(mode.value)) continue;
      const Vector theta = target.parameters(mode.structure).Theta(mode.z);
      MomentRecursion recursion(target.models()[mode.structure]);
      const auto posterior = MomentPosterior::Build(recursion, theta);
      if (!posterior.ok()) continue;
      const auto row = static_cast<Index>(draws.size());
      for (int level = 1; level < upper_.data().levels(); ++level) {
        const auto left_out = posterior->LeaveOneOut(level);
        for (Index i = 0; i < left_out.mean.cols(); ++i) {
          const Index at = upper_.data().offset[level] + i;
          double density = 0;
          for (Index l = 0; l < left_out.mean.rows(); ++l) {
            const double variance = left_out.variance(l, i), residual = y[at] - left_out.mean(l, i);
            density += posterior->link_weights()[l] * std::exp(-0.5 * residual * residual / variance) /
                       std::sqrt(2 * std::numbers::pi * variance);
          }
          log_density(row, at) = std::log(density);
        }
      }
      draws.push_back({mode.structure, 0, theta});
    }
    if (draws.size() < 2) return absl::OkStatus();
    const Vector weights = StackingWeights(log_density.topRows(static_cast<Index>(draws.size())));
    double total = 0;
    for (size_t k = 0; k < draws.size(); ++k) {
      draws[k].weight = weights[static_cast<Index>(k)];
      if (draws[k].weight >= kLeastModeWeight) total += draws[k].weight;
    }
    result.draws.clear();
    for (MomentDraw& draw : draws) {
      if (draw.weight < kLeastModeWeight) continue;
      draw.weight /= total;
      result.draws.push_back(std::move(draw));
    }
    return absl::OkStatus();
  }

  // What is not used is not kept.
  static void KeepUsed(UpperFitResult& result) {
    std::vector<int> place(result.recipes.size(), -1);
    std::vector<Recipe> kept;
    for (MomentDraw& draw : result.draws) {
      int& to = place[draw.structure];
      if (to < 0) {
        to = static_cast<int>(kept.size());
        kept.push_back(result.recipes[draw.structure]);
      }
      draw.structure = to;
    }
    result.recipes = std::move(kept);
  }

  const UpperFitRequest& request_;
  const FitOptions& options_;
  FitBudget& budget_;
  const UpperPoints upper_;
  int64_t used_;  // iterations of the parts that are done
};

}  // namespace

absl::StatusOr<UpperFitResult> FitUpper(const UpperFitRequest& request, FitBudget& budget, SharedSearchState& sketch,
                                        SharedSearchState& state) {
  return UpperRunner(request, budget).Run(sketch, state);
}

}  // namespace fidelio
