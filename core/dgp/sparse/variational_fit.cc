// The state of a running fit, version 2 (the envelope is in core/base/bytes.h). Payload, in this order:
//
//   start        as in sparse_fit_state.h
//   progress     u32 start, u32 round, vector current, f64 value, vector best, f64 best value, i64 evaluations, f64 jitter, bool done
//   work         as in core/fit/fit_bytes.h
#include "core/dgp/sparse/variational_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/parallel.h"
#include "core/base/status_macros.h"
#include "core/dgp/sparse/sparse_fit_state.h"
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"
#include "core/dgp/sparse/variational_priors.h"
#include "core/dgp/sparse/variational_search.h"
#include "core/fit/fit_budget.h"
#include "core/fit/fit_bytes.h"
#include "core/fit/shared_state.h"

namespace fidelio {
namespace {

constexpr uint32_t kVersion = 2;

int InducingPoints(const FitOptions& options) {
  return options.inducing_points > 0 ? options.inducing_points : variational::kMostInducing;
}

}  // namespace

struct VariationalFit::Impl {
  Dataset data;
  FitOptions options;
  WarmLayers warm;
  std::shared_ptr<const VariationalModel> model;
  VariationalSettings settings;

  FitBudget budget;
  SharedState<VariationalState> state;  // between two rounds

  Impl(const Dataset& d, const FitOptions& o, WarmLayers w, const FitWork& work = {}, VariationalState progress = {})
      : data(d), options(o), warm(std::move(w)), budget(options, work), state(std::move(progress)) {
    options.warm_start = nullptr;
    const std::vector<int> counts = CountsOf(data);
    model = std::make_shared<const VariationalModel>(ScaleData(data), options.kernel.value_or(KernelFamily::kRbf),
                                                     InducingPoints(options), NodeRule::ForCounts(counts));
  }

  std::vector<Vector> WarmStart() const {
    if (warm.theta.empty()) return {};
    Vector start = Vector::Zero(model->hyperparameters);
    for (size_t t = 0; t < model->layers.size(); ++t) {
      const VariationalModel::Layer& layer = model->layers[t];
      if (warm.theta[t].size() != layer.shape.size()) return {};
      start.segment(layer.theta, layer.shape.size()) = warm.theta[t];
      if (layer.noise >= 0) start[layer.noise] = std::log(std::max(warm.noise[t], kVariationalNoiseFloor));
    }
    return {start};
  }

  absl::StatusOr<std::unique_ptr<MixtureEmulator>> Finish(const VariationalState& end, double used) const {
    VariationalElbo elbo(model, settings.jitter, ResolveThreads(options.threads));
    FIDELIO_ASSIGN_OR_RETURN(double bound, elbo.Evaluate(end.best, nullptr));
    if (model->layers.size() == 2) {  // without the error of quadrature
      const VariationalElbo::SecondLevel level = elbo.SecondLevelLikelihood(end.best);
      bound += level.closed_form - level.by_nodes;
    }
    std::vector<SparseLayerState> layers;
    for (size_t t = 0; t < model->layers.size(); ++t) {
      const VariationalModel::Layer& own = model->layers[t];
      const int at = static_cast<int>(t);
      SparseLayerState layer;
      layer.shape = own.shape;
      layer.theta = end.best.segment(own.theta, own.shape.size());
      layer.z = own.z;
      layer.zf = elbo.inducing_f(at);
      layer.jitter = settings.jitter + elbo.whitening(at).extra_jitter();
      layer.m = elbo.sites(at).m();
      layer.root = elbo.sites(at).inverse_factor().transpose();
      layer.noise = own.noise >= 0 ? std::exp(end.best[own.noise]) + kVariationalNoiseFloor : 0;
      layers.push_back(std::move(layer));
    }
    FitReport report;
    report.evaluations = end.evaluations;
    report.seconds = used;
    report.log_posterior = bound;
    report.max_jitter = settings.jitter + end.max_jitter;
    FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<const Posterior> posterior,
                             SparseMfDgpPosterior::Build(kVariationalMfDgpKind, std::move(layers)));
    return FittedEmulator::Create({.data = data, .scaling = model->data.scaling, .report = report},
                                  std::move(posterior), options.threads);
  }
};

VariationalFit::VariationalFit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
VariationalFit::~VariationalFit() = default;

absl::StatusOr<std::unique_ptr<VariationalFit>> VariationalFit::Create(const Dataset& data, const FitOptions& options) {
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_RETURN_IF_ERROR(Validate(options));
  FIDELIO_ASSIGN_OR_RETURN(WarmLayers warm, WarmLayersOf(data, options));
  return std::unique_ptr<VariationalFit>(new VariationalFit(std::make_unique<Impl>(data, options, std::move(warm))));
}

absl::StatusOr<std::unique_ptr<MixtureEmulator>> VariationalFit::Run(FitObserver* observer) {
  const ThreadPool pool;  // evaluations are short
  VariationalSearch search(impl_->model, impl_->settings, impl_->WarmStart(), ResolveThreads(impl_->options.threads));
  VariationalState state = impl_->state.Copy();
  FitBudget& budget = impl_->budget;
  budget.Begin(observer);
  while (!state.done) {
    int64_t evaluations = state.evaluations;
    const double done = (state.start + static_cast<double>(state.round) / search.rounds()) / search.starts();
    const bool finished =
        search.Advance(&state, [&](double best) { return budget.Reached("optimise", evaluations++, best, done); });
    FIDELIO_RETURN_IF_ERROR(budget.CheckCancelled());
    if (!finished) break;
    impl_->state.With([&](VariationalState& s) { s = state; });
  }
  if (state.best.size() == 0) {
    return absl::InternalError("no start of the fit could be evaluated: are the data of very different scales?");
  }
  budget.Reached("finish", state.evaluations, state.best_value, 1);
  FIDELIO_RETURN_IF_ERROR(budget.CheckCancelled());
  return impl_->Finish(state, budget.seconds());
}

std::string VariationalFit::SaveState() const {
  const VariationalState state = impl_->state.Copy();
  ByteWriter out;
  WriteFitStart(variational::kRecipe, impl_->data, impl_->options, impl_->warm, out);
  out(state, impl_->budget.used());
  return out.Seal(kVariationalFitKind, kVersion);
}

absl::StatusOr<std::unique_ptr<VariationalFit>> VariationalFit::Resume(absl::string_view bytes, const Dataset& data,
                                                                       int threads) {
  FIDELIO_ASSIGN_OR_RETURN(ByteReader in, OpenState(bytes, kVariationalFitKind, kVersion, variational::kRecipe));
  FIDELIO_RETURN_IF_ERROR(Validate(data));
  FIDELIO_ASSIGN_OR_RETURN(FitStart start, ReadFitStart(data, in));
  start.options.threads = threads;
  const auto state = in.Read<VariationalState>();
  const auto work = in.Read<FitWork>();
  FIDELIO_RETURN_IF_ERROR(in.Finish());
  auto impl = std::make_unique<Impl>(data, start.options, std::move(start.warm), work, state);
  const auto fits = [&](const Vector& v, bool may_be_empty) {
    return (v.size() == impl->model->size && v.allFinite()) || (may_be_empty && v.size() == 0);
  };
  constexpr int kMostStarts = 100;
  if (state.start < 0 || state.start > kMostStarts || state.round < 0 || state.round >= impl->settings.rounds ||
      !fits(state.current, state.round == 0) || !fits(state.best, !state.done)) {
    return absl::DataLossError("state of a running fit: its parameters are not those of its model");
  }
  return std::unique_ptr<VariationalFit>(new VariationalFit(std::move(impl)));
}

double VariationalFit::MemoryBytes(const std::vector<int64_t>& counts, int dimension, const FitOptions& options) {
  constexpr double kSquares = 28, kPanels = 20;  // M×M and M×nodes matrices of a layer, those of Finish included
  const NodeRule rule;
  double points = 0, numbers = 0;
  for (size_t t = counts.size(); t-- > 0;) {
    points += static_cast<double>(counts[t]);  // of this level and above
    double nodes = 0;
    for (size_t level = t; level < counts.size(); ++level) {
      const double of_point = t == 0       ? 1
                              : level == 1 ? rule.two_levels
                              : level == 2 ? std::pow(rule.three_levels, static_cast<double>(t))
                                           : rule.paths + 1;
      nodes += of_point * static_cast<double>(counts[level]);
    }
    const double inducing = std::min(points, static_cast<double>(InducingPoints(options)));
    numbers += inducing * (kSquares * inducing + kPanels * nodes);
  }
  return 8 * (numbers + 4 * points * (dimension + 2));
}

}  // namespace fidelio
