#include "core/fit/search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/fit/mode_chains.h"
#include "core/fit/search_modes.h"
#include "core/optim/lbfgs.h"

namespace fidelio {
namespace {

// The objectives of one thread: one at a time.
class ThreadObjective {
 public:
  explicit ThreadObjective(const Target& target) : target_(target) {}

  Objective& For(int structure) {
    if (structure != structure_) {
      max_jitter_ = max_jitter();
      objective_ = target_.NewObjective(structure);
      structure_ = structure;
    }
    return *objective_;
  }
  double max_jitter() const {
    return objective_ == nullptr ? max_jitter_ : std::max(max_jitter_, objective_->max_jitter());
  }

 private:
  const Target& target_;
  std::unique_ptr<Objective> objective_;
  int structure_ = -1;
  double max_jitter_ = 0;
};

// Of the chains.
int64_t Transitions(const SearchState& state) {
  int64_t sum = 0;
  for (const SearchChain& chain : state.chains) sum += chain.hmc.iteration;
  return sum;
}

class Searcher {
 public:
  Searcher(const SearchRequest& request, FitBudget& budget, SharedSearchState& state)
      : request_(request), target_(request.target), settings_(request.settings), budget_(budget), state_(state) {}

  absl::StatusOr<SearchResult> Run() {
    const SearchState before = state_.Copy();
    if (before.starts.empty()) PlanStarts();
    if (before.modes.empty()) FIDELIO_RETURN_IF_ERROR(Optimise());
    if (settings_.chains > 0) {
      if (before.chains.empty() && !budget_.stopped()) FIDELIO_RETURN_IF_ERROR(WeighModes());
      if (!budget_.stopped()) FIDELIO_RETURN_IF_ERROR(Sample());
    }
    return Collect();
  }

 private:
  void PlanStarts() {
    std::vector<SearchStart> starts = request_.extra_starts;
    for (int k = 0; k < target_.structures() && !request_.only_extra_starts; ++k) {
      for (Vector& z : target_.Starts(k)) {
        starts.push_back({.structure = k, .z = std::move(z)});
        if (!request_.extra_starts.empty()) break;  // warm: the prior's centre is enough beside them
      }
    }
    state_.With([&](SearchState& s) { s.starts = std::move(starts); });
  }

  absl::Status Optimise() {
    const int count = state_.With([](SearchState& s) { return static_cast<int>(s.starts.size()); });
    unfinished_.resize(count);
    const bool few = count <= settings_.followed_starts;
    if (!state_.With([&](SearchState& s) { return s.screened = s.screened || few; })) {
      FIDELIO_RETURN_IF_ERROR(RunStarts(count, 1, kScreenIterations));
      if (!budget_.stopped()) state_.With([this](SearchState& s) { Screen(s); });
    }
    FIDELIO_RETURN_IF_ERROR(RunStarts(count, kMostRounds, kRoundIterations));
    std::vector<SearchStart> ends = state_.Copy().starts;
    ends.insert(ends.end(), unfinished_.begin(), unfinished_.end());
    std::vector<SearchMode> modes = DistinctModes(ends, target_);
    // Levels that a structure leaves out are predicted by others.
    if (modes.empty() || target_.FirstLevel(modes[0].structure) > 0) {
      FIDELIO_ASSIGN_OR_RETURN(SearchMode first, FirstStartThatEvaluates(ends, count));
      modes.insert(modes.begin(), std::move(first));
    }
    state_.With([&](SearchState& s) { s.modes = std::move(modes); });
    return absl::OkStatus();
  }

  // Brings every start to this number of rounds.
  absl::Status RunStarts(int count, int rounds, int iterations) {
    ForEach(count, [&](int i, ThreadObjective& objectives) {
      if (!budget_.stopped()) RunStart(i, count, rounds, iterations, objectives);
    });
    return budget_.CheckCancelled();
  }

  void RunStart(int i, int count, int rounds, int round_iterations, ThreadObjective& objectives) {
    SearchStart start = state_.With([i](SearchState& s) { return s.starts[i]; });
    const int64_t allowed = std::max<int64_t>(1, FitBudget::Share(request_.max_iterations, count, i));
    LbfgsOptions options;
    options.max_iterations = round_iterations;
    while (!start.done && start.rounds < rounds) {
      bool spent = false;
      int64_t iterations = start.iterations;
      const LbfgsResult result = MinimiseLbfgs(
          objectives.For(start.structure), start.z, options,
          [&](double) {
            spent = iterations == allowed;
            return !spent && !budget_.stopped();
          },
          [&](double best) {
            ++iterations;
            budget_.Tick("optimise", 1, -best, kOptimiseShare * (i + 0.5) / count);
          });
      if (result.value < start.value) {
        start.z = result.x;
        start.value = result.value;
      }
      if (result.stopped && !spent) {
        unfinished_[i] = start;  // good enough to end with, not to continue from
        return;
      }
      start.iterations = iterations;
      ++start.rounds;
      start.done = spent || result.converged || start.rounds >= kMostRounds;
      state_.With([&](SearchState& s) { s.starts[i] = start; });
    }
  }

  // Ends all but the best starts.
  void Screen(SearchState& s) const {
    std::vector<size_t> order(s.starts.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return s.starts[a].value < s.starts[b].value; });
    for (size_t i = static_cast<size_t>(settings_.followed_starts); i < order.size(); ++i) {
      s.starts[order[i]].done = true;
    }
    s.screened = true;
  }

  // Without time for a search, it must do as a mode.
  absl::StatusOr<SearchMode> FirstStartThatEvaluates(const std::vector<SearchStart>& starts, int count) const {
    const SearchStart* failed = nullptr;
    for (const SearchStart& start : starts) {
      if (start.z.size() == 0 || target_.FirstLevel(start.structure) > 0) continue;
      double value;
      if (target_.NewObjective(start.structure)->Evaluate(start.z, &value, nullptr)) {
        return SearchMode{.structure = start.structure,
                          .z = start.z,
                          .value = value - target_.parameters(start.structure).LogNormaliser()};
      }
      failed = failed == nullptr ? &start : failed;
    }
    if (failed == nullptr) return absl::InternalError("no start of a structure that explains all levels");
    return absl::InternalError(absl::StrFormat("none of %d starts could be evaluated: %s", count,
                                               target_.FailureAt(failed->structure, failed->z).message()));
  }

  // Hessians by central differences of the gradient; then weights, and chains for the modes that keep some.
  absl::Status WeighModes() {
    const SearchState before = state_.Copy();
    std::vector<SearchMode> modes = before.modes;
    std::vector<std::pair<int, int>> columns;  // (mode, column)
    for (size_t m = 0; m < modes.size(); ++m) {
      const int d = static_cast<int>(modes[m].z.size());
      modes[m].hessian = Matrix::Identity(d, d);
      modes[m].failed_columns = 0;
      for (int i = 0; i < d; ++i) columns.emplace_back(static_cast<int>(m), i);
    }
    const int count = static_cast<int>(columns.size());
    if (count > IterationsLeft(before)) return absl::OkStatus();
    std::vector<char> measured(columns.size(), 0);
    ForEach(count, [&](int k, ThreadObjective& objectives) {
      const auto [m, i] = columns[k];
      Objective& objective = objectives.For(modes[m].structure);
      if (!budget_.Tick("curvature", 2, -modes[m].value, kOptimiseShare + kCurvatureShare * k / count)) return;
      Vector z = modes[m].z, up, down;
      double value;
      z[i] += kHessianStep;
      const bool ok = objective.Evaluate(z, &value, &up);
      z[i] -= 2 * kHessianStep;
      if (!ok || !objective.Evaluate(z, &value, &down)) return;
      modes[m].hessian.col(i) = (up - down) / (2 * kHessianStep);
      measured[static_cast<size_t>(k)] = 1;
    });
    FIDELIO_RETURN_IF_ERROR(budget_.CheckCancelled());
    if (budget_.stopped()) return absl::OkStatus();
    for (size_t k = 0; k < columns.size(); ++k) modes[columns[k].first].failed_columns += measured[k] ? 0 : 1;
    FIDELIO_RETURN_IF_ERROR(MeasureEvidence(target_, modes));
    WeighByEvidence(settings_, modes);
    state_.With([&](SearchState& s) {
      s.chains = AllotChains(settings_.chains, modes);
      s.modes = std::move(modes);
    });
    return absl::OkStatus();
  }

  absl::Status Sample() {
    const HmcOptions options{.warmup = settings_.warmup, .leapfrogs = settings_.leapfrogs};
    const int total = settings_.warmup + settings_.transitions;
    const SearchState before = state_.Copy();
    const int count = static_cast<int>(before.chains.size());
    if (count == 0) return absl::OkStatus();
    const int64_t left = IterationsLeft(before);
    std::vector<SamplingSpace> spaces;
    for (const SearchMode& mode : before.modes) {
      FIDELIO_ASSIGN_OR_RETURN(SamplingSpace space, SpaceForSampling(target_.parameters(mode.structure).InverseShapes(),
                                                                     mode.z, mode.hessian));
      spaces.push_back(std::move(space));
    }
    ForEach(count, [&](int c, ThreadObjective& objectives) {
      if (budget_.stopped()) return;
      SearchChain chain = before.chains[c];
      const SearchMode& mode = before.modes[chain.mode];
      const SamplingSpace& space = spaces[chain.mode];
      LightTails::InU objective(space.tails, objectives.For(mode.structure));
      if (!chain.started) {
        if (!StartHmc(objective, space.whitened, Vector::Zero(mode.z.size()), &chain.hmc)) return;
        chain.started = true;
      }
      const uint32_t stream = StreamOf(RandomUse::kHmc, static_cast<uint32_t>(request_.first_chain + c));
      const int64_t allowed = std::min<int64_t>(total, FitBudget::Share(left, count, c));
      while (chain.hmc.iteration < allowed) {
        const int evaluations = StepHmc(objective, space.whitened, options, request_.seed, stream, &chain.hmc);
        if (chain.hmc.iteration > settings_.warmup) chain.trace.push_back(space.Point(chain.hmc));
        state_.With([&](SearchState& s) { s.chains[c] = chain; });
        const double share = (c + static_cast<double>(chain.hmc.iteration) / total) / count;
        if (!budget_.Tick("sample", evaluations, -space.Value(chain.hmc),
                          kOptimiseShare + kCurvatureShare + (1 - kOptimiseShare - kCurvatureShare) * share)) {
          return;
        }
      }
    });
    return budget_.CheckCancelled();
  }

  absl::StatusOr<SearchResult> Collect() const {
    const SearchState s = state_.Copy();
    const auto draw = [&](int structure, double weight, const Vector& z) {
      return SearchDraw{structure, weight, target_.parameters(structure).Theta(z)};
    };
    SearchResult result{.best = draw(s.modes[0].structure, 1, s.modes[0].z), .draws = {}, .report = {}};
    FitReport& report = result.report;
    if (!s.chains.empty()) {
      FIDELIO_ASSIGN_OR_RETURN(const ChainsReport chains, ReportChains(s.chains, s.modes));
      for (const WeightedPoint& point : PointsOfModes(s.chains, s.modes, chains, settings_.draws)) {
        result.draws.push_back(draw(s.modes[point.mode].structure, point.weight, point.z));
      }
      report.r_hat = chains.r_hat;
      report.effective_size = chains.effective_size;
      report.moved_chains = chains.moved;
    }
    if (result.draws.empty()) result.draws = {result.best};  // no draws were asked for, or the budget ended before
    report.log_posterior = -s.modes[0].value;
    report.max_jitter = max_jitter_;
    report.evaluations = budget_.used().evaluations;
    report.seconds = budget_.seconds();
    for (const SearchChain& chain : s.chains) {
      report.chains += chain.started ? 1 : 0;
      report.acceptance += chain.hmc.acceptance_sum;
      result.transitions += static_cast<int64_t>(chain.trace.size());
    }
    report.acceptance = result.transitions > 0 ? report.acceptance / static_cast<double>(result.transitions) : 0;
    for (const SearchMode& mode : s.modes) report.failed_curvature += mode.failed_columns;
    return result;
  }

  // Runs body(i, objectives) for i < n on the request's threads.
  void ForEach(int n, const std::function<void(int, ThreadObjective&)>& body) {
    const int workers = std::min(n, ResolveThreads(request_.threads));
    std::atomic<int> next{0};
    ParallelFor(workers, workers, [&](int) {
      ThreadObjective objectives(target_);
      for (int i = next++; i < n; i = next++) body(i, objectives);
      const std::lock_guard<std::mutex> lock(mutex_);
      max_jitter_ = std::max(max_jitter_, objectives.max_jitter());
    });
  }

  // What starts and curvature leave to the chains.
  int64_t IterationsLeft(const SearchState& s) const {
    return std::max<int64_t>(0, request_.max_iterations - (IterationsOf(s) - Transitions(s)));
  }

  const SearchRequest& request_;
  const Target& target_;
  const SearchSettings& settings_;
  FitBudget& budget_;
  SharedSearchState& state_;
  std::vector<SearchStart> unfinished_;  // per start, where it was interrupted

  std::mutex mutex_;
  double max_jitter_ = 0;  // guarded by mutex_ while threads run
};

}  // namespace

int64_t IterationsOf(const SearchState& state) {
  int64_t sum = Transitions(state);
  for (const SearchStart& start : state.starts) sum += start.iterations;
  if (state.chains.empty()) return sum;
  for (const SearchMode& mode : state.modes) sum += mode.z.size();  // columns of its Hessian
  return sum;
}

absl::StatusOr<SearchResult> RunSearch(const SearchRequest& request, FitBudget& budget, SharedSearchState& state) {
  return Searcher(request, budget, state).Run();
}

}  // namespace fidelio
