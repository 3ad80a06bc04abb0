#include "core/dgp/sparse/variational_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/dgp/sparse/variational_priors.h"
#include "core/optim/lbfgs.h"

namespace fidelio {
namespace {

using Eigen::Index;

// −(bound + log prior) as a function of the first `free` parameters, in units of their scales.
class Penalised final : public Objective {
 public:
  Penalised(VariationalElbo& elbo, const VariationalSearch& search, const Vector& scale, Vector base, int free)
      : elbo_(elbo), search_(search), scale_(scale), base_(std::move(base)), free_(free) {}

  int size() const override { return free_; }

  bool Evaluate(const Vector& x, double* value, Vector* gradient) override {
    base_.head(free_) = x.cwiseProduct(scale_.head(free_));
    if (base_.cwiseAbs().maxCoeff() > variational::kLargestParameter) return false;
    const absl::StatusOr<double> bound = elbo_.Evaluate(base_, gradient != nullptr ? &full_ : nullptr);
    if (!bound.ok()) return false;
    *value = -*bound - search_.LogPrior(base_, gradient != nullptr ? &full_ : nullptr);
    if (!std::isfinite(*value)) return false;
    if (gradient == nullptr) return true;
    *gradient = -full_.head(free_).cwiseProduct(scale_.head(free_));
    return gradient->allFinite();
  }

  Vector Full(const Vector& x) {
    base_.head(free_) = x.cwiseProduct(scale_.head(free_));
    return base_;
  }

 private:
  VariationalElbo& elbo_;
  const VariationalSearch& search_;
  const Vector& scale_;
  Vector base_, full_;
  int free_;
};

}  // namespace

VariationalSearch::VariationalSearch(std::shared_ptr<const VariationalModel> model, VariationalSettings settings,
                                     std::vector<Vector> extra_starts, int threads)
    : model_(std::move(model)), settings_(settings), elbo_(model_, settings.jitter, threads) {
  centre_.setZero(model_->size);
  scale_.setOnes(model_->size);
  const int d = model_->data.dimension();
  const auto set = [&](int at, int count, const Prior& prior) {
    centre_.segment(at, count).setConstant(prior.centre);
    scale_.segment(at, count).setConstant(prior.scale);
  };
  for (int t = 0; t < static_cast<int>(model_->layers.size()); ++t) {
    const VariationalModel::Layer& layer = model_->layers[t];
    const LayerShape& shape = layer.shape;
    if (shape.linked) {
      set(layer.theta + shape.rho(), d, variational::RhoLengthscale(d));
      set(layer.theta + shape.delta(), d, variational::DeltaLengthscale(d));
      set(layer.theta + shape.linear(), 1, variational::Linear());
      set(layer.theta + shape.nonlinear(), 1, variational::Nonlinear());
      set(layer.theta + shape.link_lengthscale(), 1, variational::NonlinearLengthscale());
      set(layer.theta + shape.delta_variance(), 1, variational::DeltaVariance());
    } else {
      set(layer.theta + shape.delta(), d, variational::FirstLengthscale(d));
      set(layer.theta + shape.delta_variance(), 1, variational::FirstVariance());
    }
    if (layer.noise >= 0) set(layer.noise, 1, variational::NoiseVariance());
    set(layer.site_precision, model_->upper(t), Prior::Normal(variational::kNoSite, variational::kSitePrecisionScale));
    set(layer.site_target, model_->upper(t), Prior::Normal(0, variational::kSiteTargetScale));
  }
  for (Vector& extra : extra_starts) {
    Vector start = centre_;
    start.head(model_->hyperparameters) = extra;
    starts_.push_back(std::move(start));
  }
  starts_.push_back(centre_);
  Vector wiggly = centre_;
  for (const VariationalModel::Layer& layer : model_->layers) {
    wiggly.segment(layer.theta + layer.shape.delta(), d).array() -= kLogShorter;
  }
  if (model_->layers.size() == 1) {
    starts_.push_back(std::move(wiggly));
    return;
  }
  Vector nonlinear = centre_;
  for (const VariationalModel::Layer& layer : model_->layers) {
    if (!layer.shape.linked) continue;
    nonlinear[layer.theta + layer.shape.nonlinear()] = variational::kLogBentLink;
    nonlinear[layer.theta + layer.shape.link_lengthscale()] = variational::kLogBentLengthscale;
    nonlinear.segment(layer.theta + layer.shape.rho(), d).array() -= variational::kLogShorterRho;
  }
  starts_.push_back(std::move(nonlinear));
  starts_.push_back(std::move(wiggly));
}

double VariationalSearch::LogPrior(const Vector& parameters, Vector* gradient) const {
  const int n = model_->hyperparameters;
  const Eigen::ArrayXd u = (parameters.head(n) - centre_.head(n)).array() / scale_.head(n).array();
  if (gradient != nullptr) gradient->head(n).array() -= u / scale_.head(n).array();
  return -0.5 * u.square().sum();
}

bool VariationalSearch::Maximise(int free, int iterations, const std::function<bool(double)>& keep_going,
                                 Vector* parameters, double* value, VariationalState* state) {
  Penalised objective(elbo_, *this, scale_, *parameters, free);
  LbfgsOptions options;
  options.max_iterations = iterations;
  const LbfgsResult result = MinimiseLbfgs(objective, parameters->head(free).cwiseQuotient(scale_.head(free)), options,
                                           [&](double best) { return keep_going(std::max(-best, state->best_value)); });
  state->evaluations += result.evaluations;
  *value = -result.value;
  *parameters = objective.Full(result.x);
  return !result.stopped;
}

bool VariationalSearch::Advance(VariationalState* state, const std::function<bool(double best)>& keep_going) {
  if (state->best.size() == 0) state->best_value = -std::numeric_limits<double>::infinity();
  const bool upper = model_->size > model_->hyperparameters;
  Vector parameters = state->round == 0 ? starts_[state->start] : state->current;
  double value = state->round == 0 ? -std::numeric_limits<double>::infinity() : state->value;
  bool finished = true, last = false;
  if (state->round == 0) {
    finished = Maximise(model_->hyperparameters, settings_.first_iterations, keep_going, &parameters, &value, state);
    last = !upper;
  } else {
    const double before = value;
    Vector moved = parameters, gradient;
    double step = 1;
    for (int k = 0; k < settings_.site_steps && finished; ++k) {
      finished = keep_going(std::max(value, state->best_value));
      if (!finished) break;
      // The gradient at the best parameters, then a step from there, kept if it is one up.
      if (!elbo_.Evaluate(parameters, &gradient).ok()) break;
      moved = parameters;
      elbo_.MoveSites(step, &moved);
      const absl::StatusOr<double> bound = elbo_.Evaluate(moved, nullptr);
      state->evaluations += 2;
      const double reached = bound.ok() ? *bound + LogPrior(moved, nullptr) : -std::numeric_limits<double>::infinity();
      if (reached > value) {
        parameters = moved;
        value = reached;
      } else {
        step *= 0.3;
      }
    }
    if (finished) finished = Maximise(model_->size, settings_.iterations, keep_going, &parameters, &value, state);
    last = value - before < variational::kEnough;
  }
  state->max_jitter = std::max(state->max_jitter, elbo_.max_jitter());
  if (std::isfinite(value) && value > state->best_value) {
    state->best_value = value;
    state->best = parameters;
  }
  if (!finished) return false;
  state->current = std::move(parameters);
  state->value = value;
  if (++state->round >= settings_.rounds || last || !std::isfinite(value)) {
    state->round = 0;
    state->done = ++state->start >= starts();
  }
  return true;
}

}  // namespace fidelio
