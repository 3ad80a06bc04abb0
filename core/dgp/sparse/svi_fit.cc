// The state of a running fit, version 2 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   start        as in sparse_fit_state.h
//   progress     i64 step, u32 phase, vector parameters, i64 Adam's step, vectors of Adam's moments, f64 bound, f64 jitter
//   work         as in core/fit/fit_bytes.h
#include "core/dgp/sparse/svi_fit.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_fit_state.h"
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"
#include "core/dgp/sparse/svi_training.h"
#include "core/fit/fit_budget.h"
#include "core/fit/fit_bytes.h"

namespace fidelio {
namespace {

constexpr uint32_t kSviVersion = 2, kSviRecipe = 3;

}  // namespace

struct SviFit::Impl {
  Dataset data;
  FitOptions options;
  WarmLayers warm;
  std::shared_ptr<const SviModel> model;
  int64_t steps;

  // Guards the state: a step holds it while it changes it, so that SaveState waits for one step at most.
  mutable std::mutex mutex;
  SviState state;  // without parameters before the first step
  double max_jitter = 0;
  FitBudget budget;

  Impl(const Dataset& d, const FitOptions& o, WarmLayers w, const FitWork& work = {})
      : data(d), options(o), warm(std::move(w)), budget(options, work) {
    options.warm_start = nullptr;
    steps = options.steps > 0 ? options.steps : kPublishedSteps;
    model = std::make_shared<const SviModel>(
        ScaleForSvi(data), options.kernel.value_or(KernelFamily::kRbf),
        SviSettings::For(CountsOf(data), options.inducing_points, options.batch_size), options.seed);
  }

  absl::StatusOr<std::unique_ptr<MixtureEmulator>> Finish(SviTraining& training) const {
    const Vector& p = state.parameters;
    std::vector<SparseLayerState> layers;
    for (int t = 0; t < static_cast<int>(model->layers.size()); ++t) {
      const SviModel::Layer& own = model->layers[t];
      FIDELIO_ASSIGN_OR_RETURN(SviElbo::Whitened q, training.elbo().Whiten(t, p));
      SparseLayerState layer;
      layer.shape = own.shape;
      layer.theta = own.Theta(p);
      layer.z = own.z;
      layer.zf = own.zf;
      layer.jitter = model->settings.jitter;
      layer.m = std::move(q.mean);
      layer.root = std::move(q.root);
      layer.noise = own.Noise(p);
      layers.push_back(std::move(layer));
    }
    FitReport report;
    report.evaluations = state.step;
    report.seconds = budget.seconds();
    report.log_posterior = state.bound;
    report.max_jitter = model->settings.jitter + std::max(max_jitter, training.elbo().max_jitter());
    FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const Posterior> posterior,
                             SparseMfDgpPosterior::Build(kSviMfDgpKind, std::move(layers)));
    return FittedEmulator::Create({.data = data, .scaling = model->data.scaling, .report = report},
                                  std::move(posterior), options.threads);
  }
};

SviFit::SviFit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SviFit::~SviFit() = default;

absl::StatusOr<std::unique_ptr<SviFit>> SviFit::Create(const Dataset& data, const FitOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  FIDELIO_ASSIGN_OR_RETURN(WarmLayers warm, WarmLayersOf(data, options));
  return std::unique_ptr<SviFit>(new SviFit(std::make_unique<Impl>(data, options, std::move(warm))));
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> SviFit::Run(FitObserver* observer) {
  static constexpr const char* kPhases[] = {"settle", "widen", "free"};
  Impl& impl = *impl_;
  const ThreadPool pool;  // steps are short
  SviTraining training(impl.model, impl.options.seed, ResolveThreads(impl.options.threads));
  FitBudget& budget = impl.budget;
  budget.Begin(observer);
  if (impl.state.parameters.size() == 0) {
    FIDELIO_ASSIGN_OR_RETURN(SviState start, training.Start(impl.warm.theta, impl.warm.noise));
    const std::lock_guard lock(impl.mutex);
    impl.state = std::move(start);
  }
  while (impl.state.step < impl.steps) {
    // Of the steps, or of the budget where that ends first.
    double fraction = static_cast<double>(impl.state.step) / static_cast<double>(impl.steps);
    if (std::isfinite(impl.options.max_seconds)) {
      fraction = std::max(fraction, std::min(1.0, budget.seconds() / impl.options.max_seconds));
    }
    if (impl.options.max_iterations < impl.steps) {
      fraction =
          std::max(fraction, static_cast<double>(impl.state.step) / static_cast<double>(impl.options.max_iterations));
    }
    if (!budget.Reached(kPhases[impl.state.phase], impl.state.step, impl.state.bound, fraction)) break;
    const std::lock_guard lock(impl.mutex);
    FIDELIO_RETURN_IF_ERROR(training.Step(fraction, &impl.state));
    impl.max_jitter = std::max(impl.max_jitter, training.elbo().max_jitter());
  }
  FIDELIO_RETURN_IF_ERROR(budget.CheckCancelled());
  return impl.Finish(training);
}

std::string SviFit::SaveState() const {
  ByteWriter out;
  WriteFitStart(kSviRecipe, impl_->data, impl_->options, impl_->warm, out);
  const std::lock_guard lock(impl_->mutex);
  out(impl_->state, impl_->max_jitter, impl_->budget.used());
  return out.Seal(kSviFitKind, kSviVersion);
}

absl::StatusOr<std::unique_ptr<SviFit>> SviFit::Resume(absl::string_view bytes, const Dataset& data, int threads) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader in, OpenState(bytes, kSviFitKind, kSviVersion, kSviRecipe));
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_ASSIGN_OR_RETURN(FitStart start, ReadFitStart(data, in));
  start.options.threads = threads;
  auto state = in.Read<SviState>();
  const auto max_jitter = in.Read<double>();
  const auto work = in.Read<FitWork>();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  auto impl = std::make_unique<Impl>(data, start.options, std::move(start.warm), work);
  const auto fits = [&](const Vector& v) { return v.size() == impl->model->size && v.allFinite(); };
  const bool begun = state.parameters.size() > 0;
  if (state.step < 0 || state.phase < 0 || state.phase > 2 || (begun ? !fits(state.parameters) : state.step > 0) ||
      (state.adam.step > 0 && !(fits(state.adam.first) && fits(state.adam.second)))) {
    return absl::DataLossError("state of a running fit: its parameters are not those of its model");
  }
  impl->state = std::move(state);
  impl->max_jitter = max_jitter;
  return std::unique_ptr<SviFit>(new SviFit(std::move(impl)));
}

double SviFit::MemoryBytes(const std::vector<int64_t>& counts, int dimension, const FitOptions& options) {
  constexpr double kSquares = 24, kPanels = 14;  // M×M and M×nodes matrices of a layer
  constexpr double kLeftOutSquares = 20;         // of core/gp/left_out_sites.h, at the highest level
  std::vector<int> known;
  for (const int64_t count : counts) known.push_back(static_cast<int>(std::min<int64_t>(count, 1 << 30)));
  const SviSettings settings = SviSettings::For(known, options.inducing_points, options.batch_size);
  double points = 0, batch = 0, numbers = 0;
  for (size_t t = counts.size(); t-- > 0;) {
    points += known[t];
    batch += std::min(known[t], settings.batch_size);
    const double nodes = batch * (t == 0 ? 1 : settings.samples);
    // The level that inducing inputs come from: one below, or the next that has observations.
    size_t from = t > 0 ? t - 1 : 0;
    while (from > 0 && known[from] == 0) --from;
    const double inducing = std::min(t > 0 ? (known[from] + 1) / 2 : known[from], settings.inducing_points);
    numbers += inducing * (kSquares * inducing + kPanels * nodes);
    if (t + 1 == counts.size() && counts[t] <= kMostLeftOut) numbers += kLeftOutSquares * inducing * inducing;
  }
  return 8 * (numbers + 4 * points * (dimension + 2));
}

}  // namespace fidelio
