#include "core/baseline/stage_search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/gp/gp_objective.h"
#include "core/optim/lbfgs.h"

namespace fidelio {
namespace {

constexpr int kRound = 75;  // L-BFGS iterations between points at which a saved fit continues
constexpr int kRounds = 4;

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
    return SearchResult{
        .stages = end.found, .log_posterior = -end.value, .evaluations = end.evaluations, .seconds = Seconds()};
  }

 private:
  using Models = std::map<KernelFamily, std::unique_ptr<const GpModel>>;

  absl::Status RunStage(int stage) {
    const SearchState before = state_.Copy();
    std::vector<KernelFamily> families(std::begin(kAllKernelFamilies), std::end(kAllKernelFamilies));
    if (request_.kernel) families = {*request_.kernel};
    Models models;
    for (const KernelFamily family : families) {
      FIDELIO_ASSIGN_OR_RETURN(models[family], request_.model->Stage(family, before.found));
    }
    if (before.starts.empty()) {
      std::vector<SearchStart> starts = Plan(stage, models);
      state_.With([&](SearchState& s) { s.starts = std::move(starts); });
    }
    const int count = state_.With([](SearchState& s) { return static_cast<int>(s.starts.size()); });
    std::vector<SearchStart> unfinished(count);
    ParallelFor(count, request_.threads, [&](int i) {
      RunStart(i, (stage + (i + 0.5) / count) / request_.model->stages(), models, &unfinished[i]);
    });
    if (cancelled_) return absl::CancelledError("the fit was cancelled");

    std::vector<SearchStart> ends = state_.Copy().starts;
    const SearchStart first = ends[0];
    ends.insert(ends.end(), unfinished.begin(), unfinished.end());
    const SearchStart* best = &*std::min_element(
        ends.begin(), ends.end(), [](const SearchStart& a, const SearchStart& b) { return a.value < b.value; });
    if (!std::isfinite(best->value)) {
      GpObjective objective(*models.at(first.family));
      double value;
      // Without time for a search, the first start must do.
      if (!objective.Evaluate(first.z, &value, nullptr)) {
        return absl::InternalError(
            absl::StrFormat("none of %d starts could be evaluated: %s", count, objective.status().message()));
      }
      ends[0].value = value;
      best = &ends[0];
    }
    const GpObjective objective(*models.at(best->family));
    state_.With([&](SearchState& s) {
      s.found.push_back({.family = best->family, .theta = objective.Theta(best->z)});
      s.value += best->value;
      s.starts.clear();
    });
    return absl::OkStatus();
  }

  std::vector<SearchStart> Plan(int stage, const Models& models) const {
    std::vector<SearchStart> starts;
    for (const auto& [family, model] : models) {
      bool warm = false;
      if (!request_.warm.empty() && request_.warm[stage].theta.size() == model->parameters().size()) {
        warm = true;
        starts.push_back({.family = family, .z = GpObjective(*model).Whitened(request_.warm[stage].theta)});
      }
      for (Vector& z : request_.model->Starts(*model, request_.seed)) {
        starts.push_back({.family = family, .z = std::move(z)});
        if (warm) break;  // the prior's centre is enough beside it
      }
    }
    return starts;
  }

  void RunStart(int i, double fraction, const Models& models, SearchStart* unfinished) {
    if (cancelled_ || out_of_time_) return;
    SearchStart start = state_.With([i](SearchState& s) { return s.starts[i]; });
    GpObjective objective(*models.at(start.family));
    LbfgsOptions options;
    options.max_iterations = kRound;
    while (!start.done) {
      const LbfgsResult result = MinimiseLbfgs(
          objective, start.z, options, [this](double) { return !cancelled_ && !out_of_time_; },
          [&](double best) { Tick(best, fraction); });
      if (result.value < start.value) {
        start.z = result.x;
        start.value = result.value;
      }
      if (result.stopped) break;
      start.done = result.converged || ++start.rounds >= kRounds;
      state_.With([&](SearchState& s) { s.starts[i] = start; });
    }
    if (!start.done) *unfinished = start;  // stopped: good enough to end with, not to continue from
  }

  double Seconds() const {
    return spent_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  // Counts an evaluation that was made and tells the observer. Not under the state's lock when the observer is called: the
  // observer may copy the state.
  void Tick(double value, double fraction) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const double seconds = Seconds();
    ++iteration_;
    const auto [total, done] = state_.With([&](SearchState& s) {
      s.seconds = seconds;
      s.iterations = iteration_;
      return std::pair(++s.evaluations, s.value);
    });
    if (seconds > request_.max_seconds || iteration_ >= request_.max_iterations) out_of_time_ = true;
    fraction_ = std::max(fraction_, fraction);
    const FitProgress progress{.phase = "optimise",
                               .iteration = iteration_,
                               .evaluations = total,
                               .fraction = fraction_,
                               .log_posterior = -(done + value),
                               .seconds = seconds};
    if (request_.observer != nullptr && !cancelled_ && !request_.observer->OnProgress(progress)) cancelled_ = true;
  }

  const SearchRequest& request_;
  SharedSearchState& state_;
  const std::chrono::steady_clock::time_point begin_;
  double spent_before_ = 0;

  std::mutex mutex_;  // guards what follows while threads run; taken before the state's lock
  int64_t iteration_ = 0;
  double fraction_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> out_of_time_ = false;
};

}  // namespace

absl::StatusOr<SearchResult> RunStageSearch(const SearchRequest& request, SharedSearchState& state) {
  return Runner(request, state).Run();
}

}  // namespace fidelio
