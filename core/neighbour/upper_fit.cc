#include "core/neighbour/upper_fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/moment_fit_bytes.h"
#include "core/dgp/moments/moment_posterior.h"
#include "core/dgp/moments/structures.h"
#include "core/emulator/stacking_weights.h"
#include "core/neighbour/upper_recipes.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kSketch = 300;      // observations of the upper levels
constexpr int kSketchStarts = 3;  // modes of the sketch, of different structures, that are followed on all observations
constexpr double kSketchShare = 0.2;   // of the progress bar
constexpr double kLeastWeight = 0.05;  // modes below it are dropped

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

// Tells another observer about a part of a fit as of the whole.
class PartObserver final : public FitObserver {
 public:
  PartObserver(FitObserver* whole, const FitProgress& before, double begin, double share)
      : whole_(whole), before_(before), begin_(begin), share_(share) {}

  bool OnProgress(const FitProgress& part) override {
    FitProgress progress = part;
    progress.iteration += before_.iteration;
    progress.evaluations += before_.evaluations;
    progress.seconds += before_.seconds;
    progress.fraction = begin_ + share_ * part.fraction;
    return whole_ == nullptr || whole_->OnProgress(progress);
  }

 private:
  FitObserver* const whole_;
  const FitProgress before_;
  const double begin_, share_;
};

class UpperRunner {
 public:
  explicit UpperRunner(const UpperFitRequest& request)
      : request_(request),
        options_(request.options),
        upper_(request.stack, request.data, request.scaling, request.options.threads),
        spent_(request.spent) {}

  absl::StatusOr<UpperFitResult> Run(SharedFitState& sketch, SharedFitState& state) {
    const int n = static_cast<int>(upper_.data().y.size());
    UpperFitResult result{.recipes = UpperRecipes(request_.stack, options_.kernel, n), .draws = {}, .report = {}};
    std::vector<StartState> starts = WarmStarts(result.recipes);
    MomentFitRequest part = Part(result.recipes, nullptr);
    double begun = request_.begin;
    if (n > kMostIntegrated) {
      if (starts.empty()) {
        FIDELIO_ASSIGN_OR_RETURN(starts, Sketch(result.recipes, n, sketch));
      }
      begun += kSketchShare;
      part.settings.chains = 0;
      part.only_extra_starts = true;
    }
    part.extra_starts = std::move(starts);
    FIDELIO_ASSIGN_OR_RETURN(MomentFitResult found, RunPart(std::move(part), state, begun, 1 - begun));
    result.draws = std::move(found.draws);
    if (n > kMostIntegrated) FIDELIO_RETURN_IF_ERROR(Average(state.Copy().starts, result));
    result.report = found.report;
    result.report.evaluations = spent_.evaluations - request_.spent.evaluations;
    result.report.seconds = spent_.seconds - request_.spent.seconds;
    KeepUsed(result);
    return result;
  }

 private:
  // For each structure that the warm start has, too, one of its draws: enough to find its mode.
  std::vector<StartState> WarmStarts(const std::vector<Recipe>& recipes) const {
    std::vector<StartState> starts;
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
        starts.push_back({.structure = static_cast<int>(k),
                          .z = (draw.theta - layout.parameters.Centres()).cwiseQuotient(layout.parameters.Scales())});
        break;
      }
    }
    return starts;
  }

  // Of all observations, or of those that `rows` names.
  MomentFitRequest Part(const std::vector<Recipe>& recipes, const std::vector<int>* rows) const {
    MomentFitRequest part;
    for (const Recipe& recipe : recipes) {
      part.structures.push_back(rows != nullptr ? upper_.Model(recipe, *rows) : upper_.Model(recipe));
    }
    if (rows == nullptr) part.settings = SettingsFor(static_cast<int>(upper_.data().y.size()));
    part.seed = options_.seed;
    part.threads = options_.threads;
    return part;
  }

  // Runs a part of the fit with what is left of the budget.
  absl::StatusOr<MomentFitResult> RunPart(MomentFitRequest part, SharedFitState& state, double begin, double share) {
    FIDELIO_RETURN_IF_ERROR(CheckFitState(state.Copy(), part.extra_starts, part.structures));
    part.max_seconds = std::max(1e-3, options_.max_seconds - spent_.seconds);
    part.max_iterations = std::max<int64_t>(1, options_.max_iterations - spent_.iteration);
    PartObserver observer(request_.observer, spent_, begin, share);
    part.observer = &observer;
    absl::StatusOr<MomentFitResult> result = RunMomentFit(part, state);
    if (result.ok()) {
      spent_.seconds += result->report.seconds;
      spent_.evaluations += result->report.evaluations;
      spent_.iteration += state.Copy().iterations;
    }
    return result;
  }

  // The best modes of different structures on some of the observations.
  absl::StatusOr<std::vector<StartState>> Sketch(const std::vector<Recipe>& recipes, int n, SharedFitState& state) {
    const std::vector<int> rows = RandomSubset(n, kSketch, options_.seed);
    MomentFitRequest part = Part(recipes, &rows);
    part.settings.chains = 0;
    FIDELIO_RETURN_IF_ERROR(RunPart(std::move(part), state, request_.begin, kSketchShare).status());
    std::vector<StartState> starts;
    std::vector<bool> used(recipes.size(), false);
    for (const ModeState& mode : state.Copy().modes) {  // the best first
      if (used[mode.structure] || static_cast<int>(starts.size()) == kSketchStarts) continue;
      used[mode.structure] = true;
      starts.push_back({.structure = mode.structure, .z = mode.z});
    }
    return starts;
  }

  // Instead of the best mode alone, the modes that were followed, weighted by what they say about observations left out.
  absl::Status Average(const std::vector<StartState>& modes, UpperFitResult& result) const {
    const Vector& y = upper_.data().y;
    std::vector<MomentDraw> draws;
    Matrix log_density(static_cast<Index>(modes.size()), y.size());
    for (const StartState& mode : modes) {
      if (!mode.done || !std::isfinite(mode.value)) continue;
      const auto model = upper_.Model(result.recipes[mode.structure]);
      const ParameterLayout& layout = model->layout.parameters;
      const Vector theta = layout.Centres() + layout.Scales().cwiseProduct(mode.z);
      MomentRecursion recursion(model);
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
      if (draws[k].weight >= kLeastWeight) total += draws[k].weight;
    }
    result.draws.clear();
    for (MomentDraw& draw : draws) {
      if (draw.weight < kLeastWeight) continue;
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
  const UpperPoints upper_;
  FitProgress spent_;
};

}  // namespace

absl::StatusOr<UpperFitResult> FitUpper(const UpperFitRequest& request, SharedFitState& sketch, SharedFitState& state) {
  return UpperRunner(request).Run(sketch, state);
}

}  // namespace fidelio
