#include "core/dgp/moment_fit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include "Eigen/Eigenvalues"
#include "absl/strings/str_format.h"
#include "core/base/normal.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/moment_objective.h"
#include "core/dgp/moment_starts.h"
#include "core/optim/lbfgs.h"

namespace fidelio {
namespace {

constexpr double kDifference = 1e-3;    // step of the Hessian's differences, in prior units
constexpr double kLeastCurvature = 1;   // of the posterior, in prior units

class Runner {
 public:
  Runner(const MomentFitRequest& request, MomentFitState& state)
      : request_(request), state_(state), begin_(std::chrono::steady_clock::now()) {}

  absl::StatusOr<MomentFitResult> Run() {
    if (state_.starts.empty()) PlanStarts();
    if (state_.mode.size() == 0) FIDELIO_RETURN_IF_ERROR(Optimise());
    if (state_.space.basis.size() == 0 && !out_of_time_) FIDELIO_RETURN_IF_ERROR(MeasureCurvature());
    if (!out_of_time_) FIDELIO_RETURN_IF_ERROR(Sample());
    return Collect();
  }

 private:
  template <typename F>
  auto Locked(F&& f) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return f();
  }

  void PlanStarts() {
    const MomentObjective objective(request_.model);
    for (const Vector& theta : request_.extra_starts) state_.starts.push_back({.z = objective.Whitened(theta)});
    for (Vector& z : StructuredStarts(*request_.model)) state_.starts.push_back({.z = std::move(z)});
  }

  absl::Status Optimise() {
    // Rounds with a fresh memory: their ends are the points at which a saved fit continues.
    constexpr int kRound = 60;
    ForEach(static_cast<int>(state_.starts.size()), [&](int i, MomentObjective& objective) {
      StartState start = Locked([&] { return state_.starts[i]; });
      for (int round = 0; round * kRound < request_.settings.max_iterations && !start.done; ++round) {
        LbfgsOptions options;
        options.max_iterations = kRound;
        const LbfgsResult result = MinimiseLbfgs(objective, start.z, options, [&](double best) {
          return Tick("optimise", 1, best, (i + 0.5) / (10.0 * static_cast<double>(state_.starts.size())));
        });
        if (result.value < start.value) {
          start.z = result.x;
          start.value = result.value;
        }
        if (result.stopped) return Locked([&] { best_effort_.push_back(start); });
        start.done = result.converged;
        Locked([&] { state_.starts[i] = start; });
      }
      Locked([&] { state_.starts[i].done = true; });
    });
    FIDELIO_RETURN_IF_ERROR(CheckCancelled());
    const StartState* best = nullptr;
    for (const std::vector<StartState>* set : {&state_.starts, &best_effort_}) {
      for (const StartState& s : *set) {
        if (std::isfinite(s.value) && (best == nullptr || s.value < best->value)) best = &s;
      }
    }
    if (best == nullptr) {
      return absl::InternalError(absl::StrFormat("no start of %d could be evaluated: %s", state_.starts.size(),
                                                 FirstFailure().message()));
    }
    state_.mode = best->z;
    state_.mode_value = best->value;
    return absl::OkStatus();
  }

  // The Hessian by central differences of the gradient, and the basis in which it is the identity.
  absl::Status MeasureCurvature() {
    const int d = static_cast<int>(state_.mode.size());
    Matrix hessian = Matrix::Identity(d, d);
    ForEach(d, [&](int i, MomentObjective& objective) {
      if (!Tick("curvature", 2, state_.mode_value, 0.1 + 0.05 * i / d)) return;
      Vector z = state_.mode, up, down;
      double value;
      z[i] += kDifference;
      const bool ok_up = objective.Evaluate(z, &value, &up);
      z[i] -= 2 * kDifference;
      if (ok_up && objective.Evaluate(z, &value, &down)) hessian.col(i) = (up - down) / (2 * kDifference);
    });
    FIDELIO_RETURN_IF_ERROR(CheckCancelled());
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(0.5 * (hessian + hessian.transpose()));
    if (eigen.info() != Eigen::Success || !eigen.eigenvalues().allFinite()) {
      return absl::InternalError(absl::StrFormat("Hessian (%d×%d) of the log posterior has no eigenvalues", d, d));
    }
    const Vector curvature = eigen.eigenvalues().cwiseMax(kLeastCurvature);
    state_.space.origin = state_.mode;
    state_.space.basis = eigen.eigenvectors() * curvature.cwiseSqrt().cwiseInverse().asDiagonal();
    return absl::OkStatus();
  }

  absl::Status Sample() {
    const MomentFitSettings& settings = request_.settings;
    const HmcOptions options{.warmup = settings.warmup, .leapfrogs = settings.leapfrogs};
    const int total = settings.warmup + settings.transitions;
    if (state_.chains.empty()) state_.chains.resize(settings.chains);
    ForEach(settings.chains, [&](int c, MomentObjective& objective) {
      ChainState chain = Locked([&] { return state_.chains[c]; });
      if (!chain.started) {
        const Vector origin = Vector::Zero(state_.mode.size());
        if (!StartHmc(objective, state_.space, origin, &chain.hmc)) return;
        chain.started = true;
      }
      while (chain.hmc.iteration < total) {
        const int evaluations =
            StepHmc(objective, state_.space, options, request_.seed, static_cast<uint32_t>(c), &chain.hmc);
        const int kept = chain.hmc.iteration - settings.warmup;
        if (kept > 0 && kept % settings.thin == 0) {
          chain.draws.push_back(state_.space.origin + state_.space.basis * chain.hmc.q);
        }
        Locked([&] { state_.chains[c] = chain; });
        if (!Tick("sample", evaluations, chain.hmc.value,
                  0.15 + 0.85 * (c + static_cast<double>(chain.hmc.iteration) / total) / settings.chains)) {
          return;
        }
      }
    });
    return CheckCancelled();
  }

  absl::StatusOr<MomentFitResult> Collect() {
    const MomentObjective objective(request_.model);
    MomentFitResult result;
    double kept = 0;
    for (const ChainState& chain : state_.chains) {
      for (const Vector& z : chain.draws) result.draws.push_back(objective.Theta(z));
      result.acceptance += chain.hmc.acceptance_sum;
      kept += std::max(0, chain.hmc.iteration - request_.settings.warmup);
    }
    result.mode = objective.Theta(state_.mode);
    if (result.draws.empty()) result.draws.push_back(result.mode);  // the budget ended before the first draw
    result.acceptance = kept > 0 ? result.acceptance / kept : 0;
    result.mode_value = state_.mode_value;
    result.max_jitter = max_jitter_;
    result.evaluations = state_.evaluations;
    result.seconds = Seconds();
    return result;
  }

  // Runs body(i, objective) for i < n on the request's threads; each thread has an objective of its own.
  void ForEach(int n, const std::function<void(int, MomentObjective&)>& body) {
    const int workers = std::min(n, ResolveThreads(request_.threads));
    std::atomic<int> next{0};
    ParallelFor(workers, workers, [&](int) {
      MomentObjective objective(request_.model);
      for (int i = next++; i < n; i = next++) body(i, objective);
      Locked([&] { max_jitter_ = std::max(max_jitter_, objective.max_jitter()); });
    });
  }

  double Seconds() const {
    return state_.seconds + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  // Counts work, tells the observer, and says whether to go on.
  bool Tick(const char* phase, int evaluations, double value, double fraction) {
    const std::lock_guard<std::mutex> lock(mutex_);
    state_.evaluations += evaluations;
    const double seconds = Seconds();
    if (seconds > request_.max_seconds) out_of_time_ = true;
    if (request_.observer != nullptr && !cancelled_) {
      fraction_ = std::max(fraction_, fraction);
      FitProgress progress;
      progress.phase = phase;
      progress.iteration = ++iteration_;
      progress.evaluations = state_.evaluations;
      progress.fraction = fraction_;
      progress.log_posterior = -value;
      progress.seconds = seconds;
      if (!request_.observer->OnProgress(progress)) cancelled_ = true;
    }
    return !cancelled_ && !out_of_time_;
  }

  absl::Status CheckCancelled() const {
    return cancelled_ ? absl::CancelledError("the fit was cancelled") : absl::OkStatus();
  }

  absl::Status FirstFailure() const {
    MomentRecursion recursion(request_.model);
    return recursion.Forward(request_.model->layout.parameters.Centres());
  }

  const MomentFitRequest& request_;
  MomentFitState& state_;
  const std::chrono::steady_clock::time_point begin_;
  std::mutex mutex_;  // guards state_ and what follows while threads run
  std::vector<StartState> best_effort_;
  bool cancelled_ = false;
  bool out_of_time_ = false;
  int64_t iteration_ = 0;
  double fraction_ = 0;
  double max_jitter_ = 0;
};

}  // namespace

MomentFitSettings SettingsFor(const MomentModel&) { return {}; }

absl::StatusOr<MomentFitResult> RunMomentFit(const MomentFitRequest& request, MomentFitState& state) {
  return Runner(request, state).Run();
}

}  // namespace fidelio
