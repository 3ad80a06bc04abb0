#include "core/neighbour/stack_fit.h"

#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/status_macros.h"
#include "core/neighbour/neighbour_priors.h"
#include "core/neighbour/upper_points.h"
#include "core/neighbour/vecchia_objective.h"
#include "core/neighbour/vecchia_sets.h"
#include "core/optim/lbfgs.h"

namespace fidelio {
namespace {

class StackRunner {
 public:
  StackRunner(const StackFitRequest& request, FitBudget& budget, SharedNeighbourState& state)
      : request_(request), options_(request.options), budget_(budget), state_(state) {}

  absl::StatusOr<std::unique_ptr<NeighbourStack>> Run() {
    const int stacked = StackedLevels(request_.data);
    auto stack = std::make_unique<NeighbourStack>(request_.neighbours, StackCentres(request_.data));
    for (int t = 0; t < stacked; ++t) {
      stack->AddData(ScaledLevel(request_.data.levels[t], request_.scaling), options_.threads);
      FIDELIO_RETURN_IF_ERROR(FitLevel(*stack, t, stacked));
      const NeighbourLayer layer = state_.Copy().levels[t].best().layer;
      stack->Complete(layer.kernel, layer.theta, options_.threads);
    }
    return stack;
  }

 private:
  // Whether the budget allows another evaluation.
  bool KeepGoing() const { return !budget_.stopped() && budget_.HasIterations(); }

  // From `theta`, or from the prior's centre. A start that can't be evaluated keeps its value of +∞.
  NeighbourLevelState::Candidate Minimise(VecchiaObjective& objective, KernelFamily kernel, const Vector* theta,
                                          double fraction) {
    objective.set_kernel(kernel);
    const Vector start = theta != nullptr ? objective.Whitened(*theta) : Vector::Zero(objective.size());
    LbfgsOptions options;
    options.max_iterations = kStackIterations;
    const LbfgsResult result = MinimiseLbfgs(
        objective, start, options, [this](double) { return KeepGoing(); },
        [&](double best) {
          state_.With([](NeighbourFitState& s) { ++s.iterations; });
          budget_.Tick("neighbours", 1, -best, fraction);
        });
    const bool good = std::isfinite(result.value);
    return {{kernel, objective.Theta(good ? result.x : start)}, result.value};
  }

  absl::Status FitLevel(const NeighbourStack& stack, int t, int stacked) {
    const Matrix& x = stack.data(t).x;
    const uint64_t seed = options_.seed + static_cast<uint64_t>(t);
    NeighbourLevelState state;
    state.metric = Vector::Ones(x.rows());
    if (const NeighbourFitState all = state_.Copy(); static_cast<int>(all.levels.size()) > t) {
      state = all.levels[t];
    } else {
      state_.With([&](NeighbourFitState& s) { s.levels.push_back(state); });
    }
    const auto keep = [&] { state_.With([&](NeighbourFitState& s) { s.levels[t] = state; }); };
    const auto fraction = [&](double part) { return (t + part) / stacked; };
    const NeighbourLayer* const warm = request_.warm.empty() ? nullptr : &request_.warm[t];
    std::vector<KernelFamily> families(std::begin(kAllKernelFamilies), std::end(kAllKernelFamilies));
    if (options_.kernel) families = {*options_.kernel};
    if (warm != nullptr) {
      families = {warm->kernel};
      if (state.candidates.empty()) state.metric = Metric(stack, t, warm->theta);
    }
    const auto objective = [&] {
      return VecchiaObjective(stack, families[0],
                              VecchiaSets(x, state.metric, stack.neighbours(), kConditionals, seed, options_.threads),
                              options_.threads);
    };
    if (state.candidates.size() < families.size()) {
      VecchiaObjective first = objective();
      while (state.candidates.size() < families.size() && (KeepGoing() || state.candidates.empty())) {
        const size_t k = state.candidates.size();
        NeighbourLevelState::Candidate found =
            Minimise(first, families[k], warm != nullptr ? &warm->theta : nullptr,
                     fraction(kFamiliesShare * static_cast<double>(k) / families.size()));
        FIDELIO_RETURN_IF_ERROR(budget_.CheckCancelled());
        state.candidates.push_back(std::move(found));
        keep();
      }
    }
    while (!state.done && KeepGoing()) {
      NeighbourLevelState::Candidate& best = state.best();
      const Vector metric = Metric(stack, t, best.layer.theta);
      const double change = (metric.array() / state.metric.array()).log().abs().maxCoeff();
      state.done = change < kSameMetric || state.rounds == kMostRefits;
      if (!state.done) {
        state.metric = metric;
        VecchiaObjective again = objective();
        NeighbourLevelState::Candidate found = Minimise(again, best.layer.kernel, &best.layer.theta,
                                                        fraction(kFamiliesShare + kRefitShare * state.rounds));
        FIDELIO_RETURN_IF_ERROR(budget_.CheckCancelled());
        // Its value is of other conditionals; the family stays the best.
        best.layer = std::move(found.layer);
        ++state.rounds;
      }
      keep();
    }
    return absl::OkStatus();
  }

  // 1/lengthscales with a geometric mean of 1.
  static Vector Metric(const NeighbourStack& stack, int t, const Vector& theta) {
    const Vector inverse = NeighbourParameters(stack.layout(t), theta).inverse;
    return inverse / std::exp(inverse.array().log().mean());
  }

  const StackFitRequest& request_;
  const FitOptions& options_;
  FitBudget& budget_;
  SharedNeighbourState& state_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NeighbourStack>> FitStack(const StackFitRequest& request, FitBudget& budget,
                                                         SharedNeighbourState& state) {
  return StackRunner(request, budget, state).Run();
}

}  // namespace fidelio
