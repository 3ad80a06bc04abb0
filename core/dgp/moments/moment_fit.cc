#include "core/dgp/moments/moment_fit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/dgp/moments/moment_modes.h"
#include "core/dgp/moments/moment_objective.h"
#include "core/dgp/moments/moment_starts.h"
#include "core/optim/lbfgs.h"

namespace fidelio {
namespace {

constexpr int kRound = 75;            // L-BFGS iterations between points at which a saved fit continues
constexpr double kDifference = 1e-3;  // step of the Hessian's differences, in prior units

// Shares of the progress bar.
constexpr double kOptimiseShare = 0.3, kCurvatureShare = 0.05;

class Runner {
 public:
  Runner(const MomentFitRequest& request, SharedFitState& state)
      : request_(request), state_(state), begin_(std::chrono::steady_clock::now()) {
    state_.With([this](const MomentFitState& s) {
      spent_before_ = s.seconds;
      iteration_ = s.iterations;
    });
  }

  absl::StatusOr<MomentFitResult> Run() {
    if (Get<bool>([](auto& s) { return s.starts.empty(); })) PlanStarts();
    if (Get<bool>([](auto& s) { return s.modes.empty(); })) FIDELIO_RETURN_IF_ERROR(Optimise());
    if (request_.settings.chains == 0) return Collect();
    if (Get<bool>([](auto& s) { return s.chains.empty(); }) && !out_of_time_) FIDELIO_RETURN_IF_ERROR(WeighModes());
    if (!out_of_time_) FIDELIO_RETURN_IF_ERROR(Sample());
    return Collect();
  }

 private:
  template <typename T, typename F>
  T Get(F&& f) {
    return state_.With([&](MomentFitState& s) -> T { return f(s); });
  }

  void PlanStarts() {
    std::vector<StartState> starts = request_.extra_starts;
    for (size_t k = 0; k < request_.structures.size() && !request_.only_extra_starts; ++k) {
      for (Vector& z : StructuredStarts(*request_.structures[k])) {
        starts.push_back({.structure = static_cast<int>(k), .z = std::move(z)});
        if (!request_.extra_starts.empty()) break;  // warm: the prior's centre is enough beside them
      }
    }
    state_.With([&](MomentFitState& s) { s.starts = std::move(starts); });
  }

  absl::Status Optimise() {
    const int count = Get<int>([](auto& s) { return static_cast<int>(s.starts.size()); });
    ForEach(count, [&](int i, Objectives& objectives) {
      if (cancelled_ || (out_of_time_ && HasResult())) return;
      StartState start = Get<StartState>([i](auto& s) { return s.starts[i]; });
      const int64_t allowed = std::max<int64_t>(1, Share(request_.max_iterations, count, i));
      MomentObjective& objective = objectives.For(start.structure);
      LbfgsOptions options;
      options.max_iterations = kRound;
      while (!start.done) {
        bool spent = false;
        int64_t iterations = start.iterations;
        const LbfgsResult result = MinimiseLbfgs(
            objective, start.z, options,
            [&](double) {
              spent = iterations == allowed;
              return !spent && !cancelled_ && !out_of_time_;
            },
            [&](double best) {
              ++iterations;
              Tick("optimise", 1, best, kOptimiseShare * (i + 0.5) / count);
            });
        if (result.value < start.value) {
          start.z = result.x;
          start.value = result.value;
        }
        if (result.stopped && !spent) break;
        start.iterations = iterations;
        ++start.rounds;
        start.done = spent || result.converged || start.rounds * kRound >= request_.settings.max_iterations;
        state_.With([&](MomentFitState& s) { s.starts[i] = start; });
      }
      if (!start.done) {  // stopped: good enough to end with, not to continue from
        const std::lock_guard<std::mutex> lock(mutex_);
        unfinished_.push_back(start);
      }
    });
    FIDELIO_RETURN_IF_ERROR(CheckCancelled());
    std::vector<StartState> ends = Get<std::vector<StartState>>([](auto& s) { return s.starts; });
    ends.insert(ends.end(), unfinished_.begin(), unfinished_.end());
    std::vector<ModeState> modes = DistinctModes(ends, request_.structures);
    // Lower levels are predicted by structures that have all levels.
    if (modes.empty() || request_.structures[modes[0].structure]->recipe.first_level > 0) {
      return absl::InternalError(absl::StrFormat("none of the starts (%d) with all levels could be evaluated: %s",
                                                 count, FirstFailure().message()));
    }
    state_.With([&](MomentFitState& s) { s.modes = std::move(modes); });
    return absl::OkStatus();
  }

  // Hessians by central differences of the gradient; then weights, and chains for the modes that keep some.
  absl::Status WeighModes() {
    std::vector<ModeState> modes = Get<std::vector<ModeState>>([](auto& s) { return s.modes; });
    std::vector<std::pair<int, int>> columns;  // (mode, column) still to do
    for (size_t m = 0; m < modes.size(); ++m) {
      if (modes[m].hessian.size() > 0) continue;
      const int d = static_cast<int>(modes[m].z.size());
      modes[m].hessian = Matrix::Identity(d, d);
      for (int i = 0; i < d; ++i) columns.emplace_back(static_cast<int>(m), i);
    }
    const int count = static_cast<int>(columns.size());
    if (count > IterationsLeft()) {
      out_of_time_ = true;
      return absl::OkStatus();
    }
    std::vector<char> measured(columns.size(), 0);
    ForEach(count, [&](int k, Objectives& objectives) {
      const auto [m, i] = columns[k];
      MomentObjective& objective = objectives.For(modes[m].structure);
      if (!Tick("curvature", 2, modes[m].value, kOptimiseShare + kCurvatureShare * k / count)) return;
      Vector z = modes[m].z, up, down;
      double value;
      z[i] += kDifference;
      const bool ok = objective.Evaluate(z, &value, &up);
      z[i] -= 2 * kDifference;
      if (!ok || !objective.Evaluate(z, &value, &down)) return;
      modes[m].hessian.col(i) = (up - down) / (2 * kDifference);
      measured[static_cast<size_t>(k)] = 1;
    });
    FIDELIO_RETURN_IF_ERROR(CheckCancelled());
    if (out_of_time_) return absl::OkStatus();
    for (size_t k = 0; k < columns.size(); ++k) modes[columns[k].first].failed_columns += measured[k] ? 0 : 1;
    FIDELIO_RETURN_IF_ERROR(MeasureEvidence(modes));
    MomentRecursion best(request_.structures[modes[0].structure]);
    FIDELIO_RETURN_IF_ERROR(best.Forward(Theta(modes[0].structure, modes[0].z)));
    FIDELIO_RETURN_IF_ERROR(CompleteEvidence(request_.structures, best, modes));
    WeighByEvidence(request_.settings, modes);
    std::vector<ChainState> chains = StartChains(request_.settings.chains, modes);
    state_.With([&](MomentFitState& s) {
      s.modes = std::move(modes);
      s.chains = std::move(chains);
    });
    return absl::OkStatus();
  }

  absl::Status Sample() {
    const MomentFitSettings& settings = request_.settings;
    const HmcOptions options{.warmup = settings.warmup, .leapfrogs = settings.leapfrogs};
    const int total = settings.warmup + settings.transitions;
    const std::vector<ModeState> modes = Get<std::vector<ModeState>>([](auto& s) { return s.modes; });
    const int count = Get<int>([](auto& s) { return static_cast<int>(s.chains.size()); });
    const int64_t left = IterationsLeft();
    std::vector<SamplingSpace> spaces;
    for (const ModeState& mode : modes) {
      const ParameterLayout& parameters = request_.structures[mode.structure]->layout.parameters;
      FIDELIO_ASSIGN_OR_RETURN(SamplingSpace space, SpaceForSampling(parameters.InverseShapes(), mode.z, mode.hessian));
      spaces.push_back(std::move(space));
    }
    ForEach(count, [&](int c, Objectives& objectives) {
      if (cancelled_ || out_of_time_) return;
      ChainState chain = Get<ChainState>([c](auto& s) { return s.chains[c]; });
      const ModeState& mode = modes[chain.mode];
      const SamplingSpace& space = spaces[chain.mode];
      LightTails::InU objective(space.tails, objectives.For(mode.structure));
      if (!chain.started) {
        if (!StartHmc(objective, space.whitened, Vector::Zero(mode.z.size()), &chain.hmc)) return;
        chain.started = true;
      }
      const int64_t allowed = std::min<int64_t>(total, Share(left, count, c));
      while (chain.hmc.iteration < allowed) {
        const int evaluations = StepHmc(objective, space.whitened, options, request_.seed,
                                        StreamOf(RandomUse::kHmc, static_cast<uint32_t>(c)), &chain.hmc);
        if (chain.hmc.iteration > settings.warmup) {
          chain.trace.push_back(space.Point(chain.hmc));
        }
        state_.With([&](MomentFitState& s) { s.chains[c] = chain; });
        const double share = (c + static_cast<double>(chain.hmc.iteration) / total) / count;
        if (!Tick("sample", evaluations, space.Value(chain.hmc),
                  kOptimiseShare + kCurvatureShare + (1 - kOptimiseShare - kCurvatureShare) * share)) {
          return;
        }
      }
    });
    return CheckCancelled();
  }

  absl::StatusOr<MomentFitResult> Collect() {
    const MomentFitState s = state_.Copy();
    MomentFitResult result;
    const std::vector<ModeRegion> regions = RegionsOf(s.modes);
    const std::vector<ModeChain> traces = TracesOf(s.chains);
    const ChainsReport chains = ReportChains(traces, regions);
    for (const WeightedPoint& point : PointsOfModes(traces, regions, chains, request_.settings.draws)) {
      const int structure = s.modes[point.mode].structure;
      result.draws.push_back({structure, point.weight, Theta(structure, point.z)});
    }
    if (result.draws.empty()) {  // nothing was sampled: the budget has ended, or no draws were asked for
      result.draws.push_back({s.modes[0].structure, 1, Theta(s.modes[0].structure, s.modes[0].z)});
    }
    FitReport& report = result.report;
    report.log_posterior = -s.modes[0].value;
    report.max_jitter = max_jitter_;
    report.evaluations = s.evaluations;
    report.seconds = Seconds();
    report.r_hat = chains.r_hat;
    report.effective_size = chains.effective_size;
    report.moved_chains = chains.moved;
    double transitions = 0;
    for (const ChainState& chain : s.chains) {
      report.chains += chain.started ? 1 : 0;
      report.acceptance += chain.hmc.acceptance_sum;
      transitions += static_cast<double>(chain.trace.size());
    }
    report.acceptance = transitions > 0 ? report.acceptance / transitions : 0;
    for (const ModeState& mode : s.modes) report.failed_curvature += mode.failed_columns;
    return result;
  }

  Vector Theta(int structure, const Vector& z) const {
    const ParameterLayout& p = request_.structures[structure]->layout.parameters;
    return p.Centres() + p.Scales().cwiseProduct(z);
  }

  // One thread's objectives, made when first used.
  class Objectives {
   public:
    explicit Objectives(const MomentFitRequest& request) : request_(request), made_(request.structures.size()) {}
    MomentObjective& For(int structure) {
      if (made_[structure] == nullptr) {
        made_[structure] = std::make_unique<MomentObjective>(request_.structures[structure]);
      }
      return *made_[structure];
    }
    double max_jitter() const {
      double jitter = 0;
      for (const auto& o : made_) jitter = o == nullptr ? jitter : std::max(jitter, o->max_jitter());
      return jitter;
    }

   private:
    const MomentFitRequest& request_;
    std::vector<std::unique_ptr<MomentObjective>> made_;
  };

  // Runs body(i, objectives) for i < n on the request's threads; each thread has objectives of its own.
  void ForEach(int n, const std::function<void(int, Objectives&)>& body) {
    const int workers = std::min(n, ResolveThreads(request_.threads));
    std::atomic<int> next{0};
    ParallelFor(workers, workers, [&](int) {
      Objectives objectives(request_);
      for (int i = next++; i < n; i = next++) body(i, objectives);
      const std::lock_guard<std::mutex> lock(mutex_);
      max_jitter_ = std::max(max_jitter_, objectives.max_jitter());
    });
  }

  double Seconds() const {
    return spent_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  // Counts work, tells the observer, and says whether to go on. Not under the state's lock when the observer is called:
  // the observer may copy the state.
  bool Tick(const char* phase, int evaluations, double value, double fraction) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const double seconds = Seconds();
    ++iteration_;
    const int64_t total = Get<int64_t>([&](auto& s) {
      s.seconds = seconds;
      s.iterations = iteration_;
      return s.evaluations += evaluations;
    });
    // The first evaluation is always made: without it there is nothing to return.
    if (seconds > request_.max_seconds && iteration_ > 1) out_of_time_ = true;
    fraction_ = std::max(fraction_, fraction);
    const FitProgress progress{.phase = phase,
                               .iteration = iteration_,
                               .evaluations = total,
                               .fraction = fraction_,
                               .log_posterior = -value,
                               .seconds = seconds};
    if (request_.observer != nullptr && !cancelled_ && !request_.observer->OnProgress(progress)) cancelled_ = true;
    return !cancelled_ && !out_of_time_;
  }

  // What the i-th of `count` pieces of work may use of a budget.
  static int64_t Share(int64_t budget, int count, int i) { return budget / count + (i < budget % count ? 1 : 0); }

  // What the phases that have ended leave of the budget.
  int64_t IterationsLeft() {
    return Get<int64_t>([&](const MomentFitState& s) {
      int64_t left = request_.max_iterations;
      for (const StartState& start : s.starts) left -= start.iterations;
      if (!s.chains.empty()) {
        for (const ModeState& mode : s.modes) left -= mode.z.size();
      }
      return std::max<int64_t>(0, left);
    });
  }

  // Whether the optimisation has something to return: a start of a structure that predicts every level.
  bool HasResult() {
    const auto finite = [&](const StartState& s) {
      return std::isfinite(s.value) && request_.structures[s.structure]->recipe.first_level == 0;
    };
    if (Get<bool>([&](auto& s) { return std::any_of(s.starts.begin(), s.starts.end(), finite); })) return true;
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::any_of(unfinished_.begin(), unfinished_.end(), finite);
  }

  absl::Status CheckCancelled() const {
    return cancelled_ ? absl::CancelledError("the fit was cancelled") : absl::OkStatus();
  }

  absl::Status FirstFailure() const {
    MomentRecursion recursion(request_.structures[0]);
    return recursion.Forward(request_.structures[0]->layout.parameters.Centres());
  }

  const MomentFitRequest& request_;
  SharedFitState& state_;
  const std::chrono::steady_clock::time_point begin_;
  double spent_before_ = 0;

  std::mutex mutex_;  // guards what follows while threads run; taken before the state's lock
  std::vector<StartState> unfinished_;
  int64_t iteration_ = 0;
  double fraction_ = 0;
  double max_jitter_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> out_of_time_ = false;
};

}  // namespace

absl::StatusOr<MomentFitResult> RunMomentFit(const MomentFitRequest& request, SharedFitState& state) {
  return Runner(request, state).Run();
}

}  // namespace fidelio
