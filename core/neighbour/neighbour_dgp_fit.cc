// The state of a running fit, version 1 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   u32 recipe version; u64 levels, per level u64 observations
//   options; u32 neighbours; warm start; progress of the stack   as in neighbour_fit_state.cc
//   sketch; upper levels                                         as in core/dgp/moment_fit_bytes.h
#include "core/neighbour/neighbour_dgp_fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/status_macros.h"
#include "core/dgp/moment_fit_bytes.h"
#include "core/dgp/moment_objective.h"
#include "core/dgp/structures.h"
#include "core/neighbour/neighbour_dgp_impl.h"
#include "core/neighbour/neighbour_fit_state.h"
#include "core/neighbour/upper_recipes.h"
#include "core/neighbour/vecchia_objective.h"
#include "core/neighbour/vecchia_sets.h"
#include "core/optim/lbfgs.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr uint32_t kVersion = 1;
constexpr int kConditionals = 2000;  // of Vecchia's likelihood
constexpr int kIterations = 80;      // of L-BFGS, per family and round
constexpr int kMostRounds = 2;       // with new neighbours
constexpr double kSameMetric =
    0.25;                         // ratios of lengthscales that differ by less (in logarithms) give the same neighbours
constexpr int kSketch = 300;      // observations of the upper levels
constexpr int kSketchStarts = 3;  // modes of the sketch, of different structures, that are followed on all observations
constexpr uint32_t kSketchStream = 12;                   // of the seed
constexpr double kStackShare = 0.4, kSketchShare = 0.2;  // of the progress bar

// So many numbers below n, ascending.
std::vector<int> RandomSubset(int n, int count, uint64_t seed) {
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  Random random(seed, kSketchStream);
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

}  // namespace

struct NeighbourDgpFit::Impl {
  Dataset data;
  FitOptions options;  // without warm_start
  int neighbours;
  NeighbourWarmStart warm;
  mutable std::mutex mutex;
  NeighbourFitState stack_state;  // guarded by mutex
  SharedFitState sketch_state, upper_state;

  Impl(Dataset d, const FitOptions& o, int m) : data(std::move(d)), options(o), neighbours(m) {
    options.warm_start = nullptr;
  }

  NeighbourFitState StackState() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return stack_state;
  }
};

class NeighbourDgpFit::Runner {
 public:
  Runner(Impl& impl, FitObserver* observer)
      : impl_(impl),
        options_(impl.options),
        observer_(observer),
        begin_(std::chrono::steady_clock::now()),
        before_(impl.StackState().seconds) {}

  absl::StatusOr<std::unique_ptr<NeighbourDgp::Impl>> Run() {
    const Scaling scaling = ScaleData(impl_.data).scaling;
    const int stacked = StackedLevels(impl_.data), levels = static_cast<int>(impl_.data.levels.size());
    auto stack = std::make_unique<NeighbourStack>(impl_.neighbours);
    for (int t = 0; t < stacked; ++t) {
      stack->AddData(ScaledLevel(impl_.data.levels[t], scaling), options_.threads);
      FIDELIO_RETURN_IF_ERROR(FitLevel(*stack, t, stacked));
      const NeighbourLayer layer = impl_.StackState().levels[t].best().layer;
      stack->Complete(layer.kernel, layer.theta);
    }
    FitReport report;
    std::vector<Recipe> recipes;
    std::vector<MomentDraw> draws;
    if (stacked < levels) FIDELIO_RETURN_IF_ERROR(FitUpper(*stack, scaling, recipes, draws, report));
    const NeighbourFitState state = impl_.StackState();
    report.evaluations += state.evaluations;
    report.seconds += state.seconds;
    for (const NeighbourLevelState& level : state.levels) report.log_posterior -= level.best().value;
    return NeighbourDgp::Impl::Build(impl_.data, scaling, std::move(stack), recipes, std::move(draws), report,
                                     options_.threads);
  }

 private:
  void Update(const std::function<void(NeighbourFitState&)>& change) {
    const std::lock_guard<std::mutex> lock(impl_.mutex);
    change(impl_.stack_state);
  }

  // Counts an evaluation that was made and tells the observer, which may copy the state.
  void Tick(double value, double fraction) {
    FitProgress progress{.phase = "neighbours", .fraction = fraction, .log_posterior = -value};
    Update([&](NeighbourFitState& s) {
      s.seconds = before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
      progress.iteration = ++s.iterations;
      progress.evaluations = ++s.evaluations;
      progress.seconds = s.seconds;
    });
    out_of_time_ =
        out_of_time_ || progress.seconds > options_.max_seconds || progress.iteration >= options_.max_iterations;
    cancelled_ = cancelled_ || (observer_ != nullptr && !observer_->OnProgress(progress));
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
    if (const NeighbourFitState all = impl_.StackState(); static_cast<int>(all.levels.size()) > t) {
      state = all.levels[t];
    } else {
      Update([&](NeighbourFitState& s) { s.levels.push_back(state); });
    }
    const auto keep = [&] { Update([&](NeighbourFitState& s) { s.levels[t] = state; }); };
    const auto fraction = [&](double part) { return kStackShare * (t + part) / stacked; };
    const NeighbourLayer* const warm = impl_.warm.layers.empty() ? nullptr : &impl_.warm.layers[t];
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

  MomentFitRequest Request(const UpperPoints& upper, const std::vector<Recipe>& recipes) const {
    MomentFitRequest request;
    for (const Recipe& recipe : recipes) request.structures.push_back(upper.Model(recipe));
    request.settings = SettingsFor(static_cast<int>(upper.data().y.size()));
    request.seed = options_.seed;
    request.threads = options_.threads;
    return request;
  }

  // Runs a part of the fit of the upper levels with what is left of the budget.
  absl::StatusOr<MomentFitResult> RunPart(MomentFitRequest request, SharedFitState& state, double begin, double share) {
    FIDELIO_RETURN_IF_ERROR(CheckFitState(state.Copy(), request.extra_starts, request.structures));
    request.max_seconds = std::max(1e-3, options_.max_seconds - spent_.seconds);
    request.max_iterations = std::max<int64_t>(1, options_.max_iterations - spent_.iteration);
    PartObserver part(observer_, spent_, begin, share);
    request.observer = &part;
    absl::StatusOr<MomentFitResult> result = RunMomentFit(request, state);
    if (result.ok()) {
      spent_.seconds += result->seconds;
      spent_.evaluations += result->evaluations;
      spent_.iteration += state.Copy().iterations;
    }
    return result;
  }

  absl::Status FitUpper(const NeighbourStack& stack, const Scaling& scaling, std::vector<Recipe>& recipes,
                        std::vector<MomentDraw>& draws, FitReport& report) {
    const NeighbourFitState state = impl_.StackState();
    spent_ = {.iteration = state.iterations, .evaluations = state.evaluations, .seconds = state.seconds};
    const UpperPoints upper(stack, impl_.data, scaling, options_.threads);
    const int n = static_cast<int>(upper.data().y.size());
    recipes = UpperRecipes(stack, options_.kernel, n);
    std::vector<StartState> warm;
    for (size_t k = 0; k < recipes.size(); ++k) {
      for (const MomentDraw& draw : impl_.warm.draws) {
        const Recipe& known = impl_.warm.recipes[draw.structure];
        if (known.kernel != recipes[k].kernel || known.trend != recipes[k].trend ||
            known.links.size() != recipes[k].links.size()) {
          continue;
        }
        const MomentLayout layout(recipes[k], upper.data().dimension(), upper.data().learn_noise);
        if (draw.theta.size() != layout.parameters.size()) continue;
        warm.push_back({.structure = static_cast<int>(k),
                        .z = (draw.theta - layout.parameters.Centres()).cwiseQuotient(layout.parameters.Scales())});
        break;  // one draw per structure is enough to find its mode
      }
    }
    MomentFitRequest request;
    double begun = kStackShare;
    if (n <= kMostIntegrated) {
      request = Request(upper, recipes);
      request.extra_starts = warm;
    } else {
      if (warm.empty()) FIDELIO_RETURN_IF_ERROR(Sketch(upper, recipes, n, warm));
      begun += kSketchShare;
      request = Request(upper, recipes);
      request.settings.chains = 0;
      request.extra_starts = warm;
      request.only_extra_starts = true;
    }
    FIDELIO_ASSIGN_OR_RETURN(MomentFitResult result, RunPart(std::move(request), impl_.upper_state, begun, 1 - begun));
    draws = std::move(result.draws);
    report.evaluations = spent_.evaluations - state.evaluations;
    report.seconds = spent_.seconds - state.seconds;
    report.log_posterior = result.log_posterior;
    report.acceptance = result.acceptance;
    report.max_jitter = result.max_jitter;
    if (draws.size() == 1) {  // what is not used is not kept
      recipes = {recipes[draws[0].structure]};
      draws[0].structure = 0;
    }
    return absl::OkStatus();
  }

  // The best modes of different structures on some of the observations.
  absl::Status Sketch(const UpperPoints& upper, const std::vector<Recipe>& recipes, int n,
                      std::vector<StartState>& starts) {
    const std::vector<int> rows = RandomSubset(n, kSketch, options_.seed);
    MomentFitRequest request;
    for (const Recipe& recipe : recipes) request.structures.push_back(upper.Model(recipe, rows));
    request.settings.chains = 0;
    request.seed = options_.seed;
    request.threads = options_.threads;
    FIDELIO_RETURN_IF_ERROR(RunPart(std::move(request), impl_.sketch_state, kStackShare, kSketchShare).status());
    std::vector<bool> used(recipes.size(), false);
    for (const ModeState& mode : impl_.sketch_state.Copy().modes) {  // the best first
      if (used[mode.structure] || static_cast<int>(starts.size()) == kSketchStarts) continue;
      used[mode.structure] = true;
      starts.push_back({.structure = mode.structure, .z = mode.z});
    }
    return absl::OkStatus();
  }

  Impl& impl_;
  const FitOptions& options_;
  FitObserver* const observer_;
  const std::chrono::steady_clock::time_point begin_;
  const double before_;
  FitProgress spent_;
  bool cancelled_ = false;
  bool out_of_time_ = false;
};

NeighbourDgpFit::NeighbourDgpFit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NeighbourDgpFit::~NeighbourDgpFit() = default;

absl::StatusOr<std::unique_ptr<NeighbourDgpFit>> NeighbourDgpFit::Create(const Dataset& data, const FitOptions& options,
                                                                         int neighbours) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  if (neighbours < 1) {
    return absl::InvalidArgumentError(absl::StrFormat("neighbours: %d, want at least 1", neighbours));
  }
  auto impl = std::make_unique<Impl>(data, options, neighbours);
  if (options.warm_start != nullptr) {
    const auto* warm = dynamic_cast<const NeighbourDgp*>(options.warm_start);
    if (warm == nullptr) return absl::InvalidArgumentError("warm_start: a model that another method fitted");
    if (warm->levels() != static_cast<int>(data.levels.size()) || warm->input_dimension() != data.dimension()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "warm_start: a model of %d levels and input dimension %d, but the data has %d levels and dimension %d",
          warm->levels(), warm->input_dimension(), data.levels.size(), data.dimension()));
    }
    // Of another stack, or with other parameters, it shows nothing.
    bool same = warm->impl_->stacked() == StackedLevels(data);
    for (int t = 0; same && t < warm->levels(); ++t) {
      same = (warm->data().levels[t].noise_variance.size() == 0) == (data.levels[t].noise_variance.size() == 0);
    }
    const bool family = !options.kernel || warm->impl_->stack->kernel(0) == *options.kernel;
    if (same && family) impl->warm = {warm->impl_->layers(), warm->impl_->recipes(), warm->impl_->draws};
  }
  return std::unique_ptr<NeighbourDgpFit>(new NeighbourDgpFit(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> NeighbourDgpFit::Run(FitObserver* observer) {
  FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<NeighbourDgp::Impl> fitted, Runner(*impl_, observer).Run());
  return std::unique_ptr<MixtureEmulator>(new NeighbourDgp(std::move(fitted)));
}

std::string NeighbourDgpFit::SaveState() const {
  ByteWriter out;
  out.U32(kUpperRecipeVersion);
  out.U64(impl_->data.levels.size());
  for (const LevelData& level : impl_->data.levels) out.U64(static_cast<uint64_t>(level.y.size()));
  WriteFitOptions(impl_->options, out);
  out.U32(static_cast<uint32_t>(impl_->neighbours));
  Write(impl_->warm, out);
  Write(impl_->StackState(), out);
  WriteFitState(impl_->sketch_state.Copy(), out);
  WriteFitState(impl_->upper_state.Copy(), out);
  return out.Seal(kNeighbourDgpFitKind, kVersion);
}

absl::StatusOr<std::unique_ptr<NeighbourDgpFit>> NeighbourDgpFit::Resume(absl::string_view bytes, const Dataset& data,
                                                                         int threads) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader::Opened opened, ByteReader::Open(bytes, kNeighbourDgpFitKind, kVersion,
                                                                       "state of a running fit with neighbour layers"));
  ByteReader& in = opened.reader;
  const uint32_t recipe = in.U32();
  if (recipe != kUpperRecipeVersion) {
    return absl::FailedPreconditionError(
        absl::StrFormat("state of a running fit: made with recipe %d, this program has recipe %d; start the fit again",
                        recipe, kUpperRecipeVersion));
  }
  const uint64_t levels = in.U64();
  bool same = levels == data.levels.size();
  for (uint64_t t = 0; t < levels && in.ok(); ++t) {
    const uint64_t count = in.U64();
    same = same && count == static_cast<uint64_t>(data.levels[t].y.size());
  }
  FitOptions options = ReadFitOptions(in);
  options.threads = threads;
  const auto neighbours = static_cast<int>(in.U32());
  NeighbourWarmStart warm = ReadNeighbourWarmStart(in);
  NeighbourFitState stack = ReadNeighbourFitState(in);
  MomentFitState sketch = ReadFitState(in), upper = ReadFitState(in);
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  if (!same) return absl::InvalidArgumentError("data: not those that the saved fit was made with");
  for (size_t t = 0; t < stack.levels.size(); ++t) {
    const bool there = t < data.levels.size() && stack.levels[t].metric.size() == data.dimension();
    if (!there) return absl::DataLossError("state of a running fit: sizes do not fit its data");
    const NeighbourLayout layout(data.dimension(), t == 0, data.levels[t].noise_variance.size() == 0);
    for (const NeighbourLevelState::Candidate& c : stack.levels[t].candidates) {
      if (c.layer.theta.size() == layout.parameters.size()) continue;
      return absl::DataLossError("state of a running fit: sizes do not fit its data");
    }
  }
  auto impl = std::make_unique<Impl>(data, options, std::max(1, neighbours));
  impl->warm = std::move(warm);
  impl->stack_state = std::move(stack);
  impl->sketch_state.With([&](MomentFitState& s) { s = std::move(sketch); });
  impl->upper_state.With([&](MomentFitState& s) { s = std::move(upper); });
  return std::unique_ptr<NeighbourDgpFit>(new NeighbourDgpFit(std::move(impl)));
}

double NeighbourDgpFit::MemoryBytes(const std::vector<int64_t>& counts, int dimension, int threads) {
  int stacked = 1;
  for (size_t t = 1; t < counts.size(); ++t) {
    if (counts[t] > kLargeLevel) stacked = static_cast<int>(t) + 1;
  }
  double bytes = 64 << 20, upper = 0;  // the conditionals, and small things
  for (int t = 0; t < static_cast<int>(counts.size()); ++t) {
    // The data, a copy of them in the model, and one that is scaled; trees of a permutation while neighbours are found.
    bytes += static_cast<double>(counts[t]) * 8 * (6 * dimension + 8);
    bytes += static_cast<double>(NeighbourStack::MemoryBytes(counts[t], std::min(t, stacked), dimension, kNeighbours));
    if (t >= stacked) upper += static_cast<double>(counts[t]);
  }
  // Each thread has the covariances of a structure with their adjoints; the result has the factors of some draws.
  return bytes + 8 * upper * upper * (6.0 * ResolveThreads(threads) + 12);
}

}  // namespace fidelio
