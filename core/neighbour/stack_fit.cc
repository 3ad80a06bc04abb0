#include "core/neighbour/stack_fit.h"

#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/status_macros.h"
#include "core/neighbour/upper_points.h"
#include "core/neighbour/vecchia_objective.h"
#include "core/neighbour/vecchia_sets.h"
#include "core/optim/lbfgs.h"

namespace fidelio {
namespace {

constexpr int kConditionals = 2000;  // of Vecchia's likelihood
constexpr int kIterations = 80;      // of L-BFGS, per family and round
constexpr int kMostRounds = 2;       // with new neighbours
// Ratios of lengthscales that differ by less (in logarithms) give the same neighbours.
constexpr double kSameMetric = 0.25;

class StackRunner {
 public:
  StackRunner(const StackFitRequest& request, SharedNeighbourState& state)
      : request_(request),
        options_(request.options),
        state_(state),
        begin_(std::chrono::steady_clock::now()),
        before_(state.Copy().seconds) {}

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
  // Counts an evaluation that was made and tells the observer, which may copy the state.
  void Tick(double value, double fraction) {
    FitProgress progress{.phase = "neighbours", .fraction = fraction, .log_posterior = -value};
    state_.With([&](NeighbourFitState& s) {
      s.seconds = before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
      progress.iteration = ++s.iterations;
      progress.evaluations = ++s.evaluations;
      progress.seconds = s.seconds;
    });
    out_of_time_ =
        out_of_time_ || progress.seconds > options_.max_seconds || progress.iteration >= options_.max_iterations;
    cancelled_ = cancelled_ || (request_.observer != nullptr && !request_.observer->OnProgress(progress));
  }

  absl::Status CheckCancelled() const {
    return cancelled_ ? absl::CancelledError("the fit was cancelled") : absl::OkStatus();
  }

  // From `theta`, or from the prior's centre. A start that can't be evaluated keeps its value of +∞.
  NeighbourLevelState::Candidate Minimise(VecchiaObjective& objective, KernelFamily kernel, const Vector* theta,
                                          double fraction) {
    objective.set_kernel(kernel);
    const Vector start = theta != nullptr ? objective.Whitened(*theta) : Vector::Zero(objective.size());
    LbfgsOptions options;
    options.max_iterations = kIterations;
    const LbfgsResult result = MinimiseLbfgs(
        objective, start, options, [this](double) { return !cancelled_ && !out_of_time_; },
        [&](double best) { Tick(best, fraction); });
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
    const auto fraction = [&](double part) { return request_.share * (t + part) / stacked; };
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
      while (state.candidates.size() < families.size() && (!out_of_time_ || state.candidates.empty())) {
        const size_t k = state.candidates.size();
        NeighbourLevelState::Candidate found = Minimise(first, families[k], warm != nullptr ? &warm->theta : nullptr,
                                                        fraction(0.7 * static_cast<double>(k) / families.size()));
        FIDELIO_RETURN_IF_ERROR(CheckCancelled());
        state.candidates.push_back(std::move(found));
        keep();
      }
    }
    while (!state.done && !out_of_time_) {
      NeighbourLevelState::Candidate& best = state.best();
      const Vector metric = Metric(stack, t, best.layer.theta);
      const double change = (metric.array() / state.metric.array()).log().abs().maxCoeff();
      state.done = change < kSameMetric || state.rounds == kMostRounds;
      if (!state.done) {
        state.metric = metric;
        VecchiaObjective again = objective();
        NeighbourLevelState::Candidate found =
            Minimise(again, best.layer.kernel, &best.layer.theta, fraction(0.7 + 0.1 * state.rounds));
        FIDELIO_RETURN_IF_ERROR(CheckCancelled());
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
  SharedNeighbourState& state_;
  const std::chrono::steady_clock::time_point begin_;
  const double before_;
  bool cancelled_ = false;
  bool out_of_time_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NeighbourStack>> FitStack(const StackFitRequest& request, SharedNeighbourState& state) {
  return StackRunner(request, state).Run();
}

}  // namespace fidelio
