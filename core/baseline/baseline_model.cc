#include "core/baseline/baseline_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/base/status_macros.h"
#include "core/baseline/baseline_priors.h"
#include "core/baseline/co_kriging.h"
#include "core/baseline/co_kriging_posterior.h"

namespace fidelio {
namespace {

// The prior's centre; short lengthscales; levels that do not help each other; random networks.
std::vector<Vector> CoKrigingStarts(const CoKriging& model, uint64_t seed) {
  const Vector centres = model.parameters().Centres();
  const int d = model.data().dimension();
  Vector wiggly = centres, decoupled = centres;
  wiggly.segment(model.level(0).lengthscale, d).array() -= kLogShorter;
  for (int t = 1; t < model.data().levels(); ++t) {
    decoupled[model.level(t).rho] = 0;
    decoupled[model.level(t).amplitude] = 0;
  }
  std::vector<Vector> starts = {centres, wiggly};
  if (model.data().levels() > 1) starts.push_back(decoupled);
  const int hidden = model.network().hidden;
  for (int i = 0; hidden > 0 && i < kNetworkStarts; ++i) {
    // Steep units along single inputs, each with its step somewhere in the box.
    Random random(seed, StreamOf(RandomUse::kBaselineStart), static_cast<uint32_t>(i));
    Vector start = i % 2 == 0 ? centres : wiggly;
    for (int h = 0; h < hidden; ++h) {
      const int along = static_cast<int>(random.Uniform() * d);
      const double slope = 4 * std::exp(1.5 * random.Uniform()), place = random.Uniform() - 0.5;
      start[model.network_offset() + along * hidden + h] = slope;
      start[model.network_offset() + d * hidden + h] = -slope * place;
      start[model.network_offset() + (d + 1) * hidden + h * d + along] = 0.3 * random.Normal();
    }
    starts.push_back(start);
  }
  return starts;
}

std::vector<Vector> LayerStarts(const ChainLayer& layer) {
  const Vector centres = layer.parameters().Centres();
  const ChainLayer::Places& at = layer.places();
  Vector wiggly = centres, apart = centres;
  wiggly.segment(at.lengthscale, layer.dimension()).array() -= kLogShorter;
  if (layer.kind() == LayerKind::kFirst) return {centres, wiggly};
  apart[at.amplitude] = 0;
  if (at.rho >= 0) apart[at.rho] = 0;
  if (layer.kind() == LayerKind::kLinear) return {centres, wiggly, apart};
  apart[at.link_amplitude] = kLogLinkApart;
  Vector bent = centres;  // a link that turns quickly, without a discrepancy
  bent[at.output_lengthscale] -= kLogQuickerTurn;
  bent[at.amplitude] -= kLogLessDiscrepancy;
  return {centres, wiggly, apart, bent};
}

absl::Status CheckSize(const StageDraw& draw, const ParameterLayout& parameters, int stage) {
  if (draw.theta.size() == parameters.size()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrFormat("%d hyperparameters of stage %d, want %d", draw.theta.size(), stage, parameters.size()));
}

}  // namespace

int BaselineModel::stages() const { return joint() ? 1 : data_.levels(); }

std::shared_ptr<const ChainLayer> BaselineModel::Layer(const ChainPosterior& below, const StageForm& form,
                                                       const Vector& lean) const {
  const int t = below.levels(), n = data_.count(t), d = data_.dimension();
  LayerObservations own{.inputs = Matrix(n, t == 0 ? d : d + 1),
                        .outputs = data_.y.segment(data_.offset[t], n),
                        .noise = data_.noise.segment(data_.offset[t], n),
                        .learn_noise = data_.learn_noise[t]};
  const Matrix x = data_.x.middleRows(data_.offset[t], n);
  own.inputs.leftCols(d) = x;
  if (t > 0 && n > 0) own.inputs.rightCols(1) = below.Collapsed(x, t - 1).mean;
  const LayerKind upper = method_ == BaselineMethod::kNargp ? LayerKind::kNonlinear : LayerKind::kLinear;
  return std::make_shared<const ChainLayer>(t == 0 ? LayerKind::kFirst : upper, std::move(own), form, lean);
}

absl::StatusOr<std::unique_ptr<ChainPosterior>> BaselineModel::Chain(const std::vector<StageParameters>& stages,
                                                                     Vector* lean) const {
  auto chain = std::make_unique<ChainPosterior>();
  for (const StageParameters& stage : stages) {
    std::map<StageForm, std::shared_ptr<const ChainLayer>> layers;
    std::vector<ChainPosterior::LayerDraw> draws;
    for (const StageDraw& draw : stage.draws) {
      std::shared_ptr<const ChainLayer>& layer = layers[draw.form];
      if (layer == nullptr) layer = Layer(*chain, draw.form, *lean);
      FIDELIO_RETURN_IF_ERROR(CheckSize(draw, layer->parameters(), chain->levels()));
      draws.push_back({.layer = layer, .theta = draw.theta, .weight = draw.weight});
    }
    FIDELIO_RETURN_IF_ERROR(chain->Add(draws));
    if (chain->levels() > 1) continue;
    FIDELIO_RETURN_IF_ERROR(CheckSize(stage.best, draws.front().layer->parameters(), 0));
    *lean = draws.front().layer->Lean(stage.best.theta);
  }
  return chain;
}

std::vector<StageForm> BaselineModel::Forms(const std::optional<KernelFamily>& kernel) const {
  std::vector<int> hidden = {0};
  if (method_ == BaselineMethod::kDeepMf) {
    const int weights = 2 * data_.dimension() + 1;  // of a unit
    hidden.push_back(std::clamp(static_cast<int>(data_.y.size()) / (kPerWeight * weights), 1, kMostHidden));
  }
  std::vector<StageForm> forms;
  for (const KernelFamily family : kAllKernelFamilies) {
    if (kernel && *kernel != family) continue;
    for (const int units : hidden) forms.push_back({.family = family, .hidden = units});
  }
  return forms;
}

absl::StatusOr<std::shared_ptr<const GpModel>> BaselineModel::Stage(const StageForm& form,
                                                                    const std::vector<StageParameters>& before) const {
  if (joint()) {
    return std::make_shared<const CoKriging>(data_, form);
  }
  Vector lean;
  FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<ChainPosterior> below, Chain(before, &lean));
  return std::shared_ptr<const GpModel>(Layer(*below, form, lean));
}

std::vector<Vector> BaselineModel::Starts(const GpModel& stage, uint64_t seed) const {
  std::vector<Vector> starts = joint() ? CoKrigingStarts(dynamic_cast<const CoKriging&>(stage), seed)
                                       : LayerStarts(dynamic_cast<const ChainLayer&>(stage));
  for (Vector& start : starts) start = stage.parameters().Whitened(start);
  return starts;
}

absl::StatusOr<std::unique_ptr<const BaselinePosterior>> BaselineModel::Posterior(
    const std::vector<StageParameters>& stages) const {
  if (static_cast<int>(stages.size()) != this->stages()) {
    return absl::DataLossError(absl::StrFormat("hyperparameters of %d stages, want %d", stages.size(), this->stages()));
  }
  for (const StageParameters& stage : stages) {
    if (stage.draws.empty()) return absl::DataLossError("a stage without draws of its hyperparameters");
  }
  if (!joint()) {
    Vector lean;
    FIDELIO_ASSIGN_OR_RETURN(std::unique_ptr<ChainPosterior> chain, Chain(stages, &lean));
    chain->SetParameters(method_, stages);
    return chain;
  }
  auto posterior = std::make_unique<CoKrigingPosterior>(data_);
  posterior->SetParameters(method_, stages);
  std::map<StageForm, std::shared_ptr<const GpModel>> models;
  for (const StageDraw& draw : stages[0].draws) {
    std::shared_ptr<const GpModel>& model = models[draw.form];
    if (model == nullptr) {
      FIDELIO_ASSIGN_OR_RETURN(model, Stage(draw.form, {}));
    }
    FIDELIO_RETURN_IF_ERROR(CheckSize(draw, model->parameters(), 0));
    FIDELIO_RETURN_IF_ERROR(posterior->Add(dynamic_cast<const CoKriging&>(*model), draw.theta, draw.weight));
  }
  return posterior;
}

}  // namespace fidelio
