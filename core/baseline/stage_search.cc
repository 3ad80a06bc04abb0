#include "core/baseline/stage_search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/gp/gp_objective.h"
#include "core/optim/laplace.h"
#include "core/optim/lbfgs.h"
#include "core/optim/mode_chains.h"

namespace fidelio {
namespace {

constexpr int kScreen = 25;  // L-BFGS iterations of every start, before the best go on
constexpr size_t kKept = 8;  // of them
constexpr int kRound = 75;   // iterations between points at which a saved fit continues
constexpr int kRounds = 4;

constexpr double kSameValue = 0.05;   // two runs ended at one mode: values this near …
constexpr double kSamePlace = 0.5;    // … and whitened parameters this near, each
constexpr double kFarBelow = 25;      // nats below the best: no evidence makes up for it
constexpr size_t kMostModes = 6;      // whose curvature is measured
constexpr double kDifference = 1e-3;  // step of the Hessian's differences, in prior units
constexpr double kTemperature = 2;    // of the modes' weights: forgives the errors of Laplace's approximation
constexpr double kLeastWeight = 0.03;
constexpr int kChainStreams = 256;  // per stage: more than it has chains

// Shares of a stage's progress.
constexpr double kOptimiseShare = 0.4, kCurvatureShare = 0.1;

// Observations of a stage up to which its settings are those of small data.
constexpr double kMedium = 250;

class Runner {
 public:
  Runner(const SearchRequest& request, SharedSearchState& state)
      : request_(request), state_(state), begin_(std::chrono::steady_clock::now()) {
    state_.With([this](const SearchState& s) {
      spent_before_ = s.seconds;
      iteration_ = s.iterations;
    });
  }

  absl::StatusOr<SearchResult> Run() {
    const int stages = request_.model->stages();
    for (int stage = static_cast<int>(state_.Copy().found.size()); stage < stages; ++stage) {
      FIDELIO_RETURN_IF_ERROR(RunStage(stage));
    }
    const SearchState end = state_.Copy();
    SearchResult result{.stages = end.found, .report = end.sampled};
    result.report.log_posterior = -end.value;
    result.report.acceptance = end.transitions > 0 ? end.acceptance / static_cast<double>(end.transitions) : 0;
    result.report.evaluations = end.evaluations;
    result.report.seconds = Seconds();
    return result;
  }

 private:
  using Models = std::map<StageForm, std::shared_ptr<const GpModel>>;

  absl::Status RunStage(int stage) {
    stage_ = stage;
    const SearchState before = state_.Copy();
    models_.clear();
    for (const StageForm& form : request_.model->Forms(request_.kernel)) {
      FIDELIO_ASSIGN_OR_RETURN(models_[form], request_.model->Stage(form, before.found));
    }
    settings_ = SettingsForStage(models_.begin()->second->outputs().size());
    if (request_.point_estimate) settings_.chains = 0;
    if (before.starts.empty()) {
      std::vector<SearchStart> starts = Plan(stage);
      state_.With([&](SearchState& s) { s.starts = std::move(starts); });
    }
    if (before.modes.empty()) FIDELIO_RETURN_IF_ERROR(Optimise());
    if (settings_.chains > 0 && !out_of_time_) {
      if (before.chains.empty()) FIDELIO_RETURN_IF_ERROR(WeighModes());
      if (!out_of_time_) FIDELIO_RETURN_IF_ERROR(Sample());
    }
    return Collect();
  }

  std::vector<SearchStart> Plan(int stage) const {
    std::vector<SearchStart> starts;
    if (!request_.warm.empty()) {
      const StageDraw& best = request_.warm[stage].best;
      const auto found = models_.find(best.form);
      if (found != models_.end() && best.theta.size() == found->second->parameters().size()) {
        starts.push_back({.form = best.form, .z = GpObjective(*found->second).Whitened(best.theta)});
      }
    }
    const bool warm = !starts.empty();
    for (const auto& [form, model] : models_) {
      for (Vector& z : request_.model->Starts(*model, request_.seed)) {
        starts.push_back({.form = form, .z = std::move(z)});
        if (warm) break;  // the prior's centre is enough beside it
      }
    }
    return starts;
  }

  absl::Status Optimise() {
    const int count = state_.With([](SearchState& s) { return static_cast<int>(s.starts.size()); });
    std::vector<SearchStart> unfinished(count);
    const bool few = count <= static_cast<int>(kKept);
    const bool screened = state_.With([&](SearchState& s) { return s.screened = s.screened || few; });
    if (!screened) {
      ParallelFor(count, request_.threads, [&](int i) { RunStart(i, count, 1, kScreen, &unfinished[i]); });
      if (cancelled_) return Cancelled();
      if (!out_of_time_) state_.With([](SearchState& s) { Screen(s); });
    }
    ParallelFor(count, request_.threads, [&](int i) { RunStart(i, count, kRounds, kRound, &unfinished[i]); });
    if (cancelled_) return Cancelled();

    std::vector<SearchStart> ends = state_.Copy().starts;
    ends.insert(ends.end(), unfinished.begin(), unfinished.end());
    std::vector<SearchMode> modes = DistinctModes(ends);
    if (modes.empty()) {
      // Without time for a search, the first start must do.
      const SearchStart& first = ends[0];
      GpObjective objective(*models_.at(first.form));
      double value;
      if (!objective.Evaluate(first.z, &value, nullptr)) {
        return absl::InternalError(
            absl::StrFormat("none of %d starts could be evaluated: %s", count, objective.status().message()));
      }
      modes.push_back({.form = first.form, .z = first.z, .value = value - Normaliser(first.form)});
    }
    state_.With([&](SearchState& s) { s.modes = std::move(modes); });
    return absl::OkStatus();
  }

  void RunStart(int i, int count, int rounds, int iterations, SearchStart* unfinished) {
    if (cancelled_ || out_of_time_) return;
    SearchStart start = state_.With([i](SearchState& s) { return s.starts[i]; });
    if (start.done) return;
    GpObjective objective(*models_.at(start.form));
    LbfgsOptions options;
    options.max_iterations = iterations;
    while (!start.done && start.rounds < rounds) {
      const LbfgsResult result = MinimiseLbfgs(
          objective, start.z, options, [this](double) { return !cancelled_ && !out_of_time_; },
          [&](double best) { Tick("optimise", 1, best, kOptimiseShare * (i + 0.5) / count); });
      if (result.value < start.value) {
        start.z = result.x;
        start.value = result.value;
      }
      if (result.stopped) {
        *unfinished = start;  // good enough to end with, not to continue from
        return;
      }
      start.done = ++start.rounds >= kRounds || result.converged;
      state_.With([&](SearchState& s) { s.starts[i] = start; });
    }
  }

  // Ends all but the best starts.
  static void Screen(SearchState& s) {
    std::vector<size_t> order(s.starts.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return s.starts[a].value < s.starts[b].value; });
    for (size_t i = kKept; i < order.size(); ++i) s.starts[order[i]].done = true;
    s.screened = true;
  }

  // The ends of runs, best first, without those that are the same or far below the best.
  std::vector<SearchMode> DistinctModes(const std::vector<SearchStart>& ends) const {
    std::vector<SearchMode> modes, distinct;
    for (const SearchStart& end : ends) {
      if (!std::isfinite(end.value)) continue;
      modes.push_back({.form = end.form, .z = end.z, .value = end.value - Normaliser(end.form)});
    }
    std::stable_sort(modes.begin(), modes.end(),
                     [](const SearchMode& a, const SearchMode& b) { return a.value < b.value; });
    for (SearchMode& mode : modes) {
      if (distinct.size() == kMostModes || mode.value > modes[0].value + kFarBelow) break;
      const bool known = std::any_of(distinct.begin(), distinct.end(), [&](const SearchMode& other) {
        return other.form == mode.form && std::abs(other.value - mode.value) < kSameValue &&
               (other.z - mode.z).lpNorm<Eigen::Infinity>() < kSamePlace;
      });
      if (!known) distinct.push_back(mode);
    }
    return distinct;
  }

  // Hessians by central differences of the gradient; then weights, and chains for the modes that keep some.
  absl::Status WeighModes() {
    std::vector<SearchMode> modes = state_.Copy().modes;
    std::vector<std::pair<int, int>> columns;  // (mode, column)
    for (size_t m = 0; m < modes.size(); ++m) {
      const int size = static_cast<int>(modes[m].z.size());
      modes[m].hessian = Matrix::Identity(size, size);
      for (int i = 0; i < size; ++i) columns.emplace_back(static_cast<int>(m), i);
    }
    const int count = static_cast<int>(columns.size());
    std::vector<char> measured(columns.size(), 0);
    ParallelFor(count, request_.threads, [&](int c) {
      const auto [m, i] = columns[c];
      if (!Tick("curvature", 2, modes[m].value, kOptimiseShare + kCurvatureShare * c / count)) return;
      GpObjective objective(*models_.at(modes[m].form));
      Vector z = modes[m].z, up, down;
      double value;
      z[i] += kDifference;
      const bool ok = objective.Evaluate(z, &value, &up);
      z[i] -= 2 * kDifference;
      if (!ok || !objective.Evaluate(z, &value, &down)) return;
      modes[m].hessian.col(i) = (up - down) / (2 * kDifference);
      measured[static_cast<size_t>(c)] = 1;
    });
    if (cancelled_) return Cancelled();
    if (out_of_time_) return absl::OkStatus();
    for (size_t c = 0; c < columns.size(); ++c) modes[columns[c].first].failed_columns += measured[c] ? 0 : 1;
    Vector log_evidence(static_cast<Eigen::Index>(modes.size()));
    for (size_t m = 0; m < modes.size(); ++m) {
      FIDELIO_ASSIGN_OR_RETURN(const Curvature curvature, MeasureCurvature(modes[m].hessian));
      modes[m].log_evidence = LaplaceEvidence(-modes[m].value, curvature.values);
      log_evidence[static_cast<Eigen::Index>(m)] = modes[m].log_evidence;
    }
    const Vector weights = WeightsByEvidence(log_evidence, kTemperature, settings_.modes, kLeastWeight);
    for (size_t m = 0; m < modes.size(); ++m) modes[m].weight = weights[static_cast<Eigen::Index>(m)];
    std::vector<SearchChain> chains;
    for (const int mode : AllotChains(settings_.chains, weights)) {
      SearchChain chain;
      chain.mode = mode;
      chains.push_back(std::move(chain));
    }
    state_.With([&](SearchState& s) {
      s.modes = std::move(modes);
      s.chains = std::move(chains);
    });
    return absl::OkStatus();
  }

  absl::Status Sample() {
    const HmcOptions options{.warmup = settings_.warmup, .leapfrogs = settings_.leapfrogs};
    const int total = settings_.warmup + settings_.transitions;
    const SearchState before = state_.Copy();
    std::vector<SamplingSpace> spaces;
    for (const SearchMode& mode : before.modes) {
      const Vector tails = models_.at(mode.form)->parameters().InverseShapes();
      FIDELIO_ASSIGN_OR_RETURN(SamplingSpace space, SpaceForSampling(tails, mode.z, mode.hessian));
      spaces.push_back(std::move(space));
    }
    const int count = static_cast<int>(before.chains.size());
    ParallelFor(count, request_.threads, [&](int c) {
      if (cancelled_ || out_of_time_) return;
      SearchChain chain = before.chains[c];
      const SamplingSpace& space = spaces[chain.mode];
      GpObjective in_z(*models_.at(before.modes[chain.mode].form));
      LightTails::InU objective(space.tails, in_z);
      if (!chain.started) {
        if (!StartHmc(objective, space.whitened, Vector::Zero(objective.size()), &chain.hmc)) return;
        chain.started = true;
      }
      while (chain.hmc.iteration < total) {
        const uint32_t stream = StreamOf(RandomUse::kHmc, static_cast<uint32_t>(kChainStreams * stage_ + c));
        const int evaluations = StepHmc(objective, space.whitened, options, request_.seed, stream, &chain.hmc);
        if (chain.hmc.iteration > settings_.warmup) chain.trace.push_back(space.Point(chain.hmc));
        state_.With([&](SearchState& s) { s.chains[c] = chain; });
        const double share = (c + static_cast<double>(chain.hmc.iteration) / total) / count;
        if (!Tick("sample", evaluations, space.Value(chain.hmc),
                  kOptimiseShare + kCurvatureShare + (1 - kOptimiseShare - kCurvatureShare) * share)) {
          return;
        }
      }
    });
    return cancelled_ ? Cancelled() : absl::OkStatus();
  }

  static absl::StatusOr<std::vector<HmcSpace>> Spaces(const std::vector<SearchMode>& modes) {
    std::vector<HmcSpace> spaces;
    for (const SearchMode& mode : modes) {
      FIDELIO_ASSIGN_OR_RETURN(const Curvature curvature, MeasureCurvature(mode.hessian));
      spaces.push_back(WhitenedSpace(mode.z, curvature));
    }
    return spaces;
  }

  // Ends the stage.
  absl::Status Collect() {
    const SearchState s = state_.Copy();
    StageParameters found;
    const SearchMode& best = s.modes[0];
    found.best = {.form = best.form, .theta = Theta(best.form, best.z), .weight = 1};
    ChainsReport report;
    if (!s.chains.empty()) {
      FIDELIO_ASSIGN_OR_RETURN(std::vector<HmcSpace> spaces, Spaces(s.modes));
      std::vector<ModeRegion> regions;
      for (size_t m = 0; m < s.modes.size(); ++m) {
        regions.push_back({.space = static_cast<int>(std::distance(models_.begin(), models_.find(s.modes[m].form))),
                           .log_evidence = s.modes[m].log_evidence,
                           .weight = s.modes[m].weight,
                           .whitened = std::move(spaces[m])});
      }
      std::vector<ModeChain> chains;
      for (const SearchChain& chain : s.chains) chains.push_back({.mode = chain.mode, .trace = chain.trace});
      report = ReportChains(chains, regions);
      for (const WeightedPoint& point : PointsOfModes(chains, regions, report, settings_.draws)) {
        const StageForm& form = s.modes[point.mode].form;
        found.draws.push_back({.form = form, .theta = Theta(form, point.z), .weight = point.weight});
      }
    }
    if (found.draws.empty()) found.draws = {found.best};  // no draws were asked for, or the budget ended before
    state_.With([&](SearchState& state) {
      for (const SearchChain& chain : s.chains) {
        state.acceptance += chain.hmc.acceptance_sum;
        state.transitions += static_cast<int64_t>(chain.trace.size());
      }
      AddReport(s, report, state.sampled);
      state.found.push_back(std::move(found));
      state.value += best.value;
      state.starts.clear();
      state.modes.clear();
      state.chains.clear();
      state.screened = false;
    });
    return absl::OkStatus();
  }

  static void AddReport(const SearchState& stage, const ChainsReport& chains, FitReport& all) {
    // One stage of which nothing is known makes the whole unknown.
    const bool first = all.chains == 0, known = (first || all.r_hat > 0) && chains.r_hat > 0;
    all.r_hat = known ? std::max(all.r_hat, chains.r_hat) : 0;
    all.effective_size = !known  ? 0
                         : first ? chains.effective_size
                                 : std::min(all.effective_size, chains.effective_size);
    for (const SearchChain& chain : stage.chains) all.chains += chain.started ? 1 : 0;
    all.moved_chains += chains.moved;
    for (const SearchMode& mode : stage.modes) all.failed_curvature += mode.failed_columns;
  }

  Vector Theta(const StageForm& form, const Vector& z) const { return GpObjective(*models_.at(form)).Theta(z); }
  double Normaliser(const StageForm& form) const { return models_.at(form)->parameters().LogNormaliser(); }
  static absl::Status Cancelled() { return absl::CancelledError("the fit was cancelled"); }

  double Seconds() const {
    return spent_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  // Counts work, tells the observer, and says whether to go on. Not under the state's lock when the observer is called: the
  // observer may copy the state.
  bool Tick(const char* phase, int evaluations, double value, double part) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const double seconds = Seconds();
    ++iteration_;
    const auto [total, done] = state_.With([&](SearchState& s) {
      s.seconds = seconds;
      s.iterations = iteration_;
      return std::pair(s.evaluations += evaluations, s.value);
    });
    if (seconds > request_.max_seconds || iteration_ >= request_.max_iterations) out_of_time_ = true;
    fraction_ = std::max(fraction_, (stage_ + part) / request_.model->stages());
    const FitProgress progress{.phase = phase,
                               .iteration = iteration_,
                               .evaluations = total,
                               .fraction = fraction_,
                               .log_posterior = -(done + value),
                               .seconds = seconds};
    if (request_.observer != nullptr && !cancelled_ && !request_.observer->OnProgress(progress)) cancelled_ = true;
    return !cancelled_ && !out_of_time_;
  }

  const SearchRequest& request_;
  SharedSearchState& state_;
  const std::chrono::steady_clock::time_point begin_;
  double spent_before_ = 0;

  // Of the stage that is under way.
  int stage_ = 0;
  Models models_;
  SearchSettings settings_;

  std::mutex mutex_;  // guards what follows while threads run; taken before the state's lock
  int64_t iteration_ = 0;
  double fraction_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> out_of_time_ = false;
};

}  // namespace

SearchSettings SettingsForStage(int64_t observations) {
  SearchSettings s;
  if (observations <= kMedium) return s;
  const double share = std::pow(kMedium / static_cast<double>(observations), 2);
  s.draws = std::max(s.chains, static_cast<int>(share * s.draws));
  s.transitions = std::max(4, static_cast<int>(share * s.transitions));
  s.warmup = std::max(6, static_cast<int>(share * s.warmup));
  return s;
}

absl::StatusOr<SearchResult> RunStageSearch(const SearchRequest& request, SharedSearchState& state) {
  return Runner(request, state).Run();
}

}  // namespace fidelio
