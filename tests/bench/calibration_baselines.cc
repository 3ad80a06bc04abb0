// Calibration of AR1 (joint, exact at any number of levels) and NARGP (exact with one level; above, each level is fitted to
// the mean of the one below).
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "core/baseline/baseline_model.h"
#include "core/baseline/baseline_priors.h"
#include "core/baseline/co_kriging.h"
#include "core/baseline/stage_search.h"
#include "tests/bench/calibration_data.h"
#include "tests/bench/calibration_families.h"
#include "tests/bench/prior_draw.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

constexpr int kSearches = 9;  // whose draws are pooled: about 200
constexpr StageForm kForm{.family = KernelFamily::kRbf, .hidden = 0};

struct DrawnBaseline {
  CalibrationInputs inputs;
  Vector theta;  // of the joint model, or of level 0
  CalibrationData drawn;
};

Matrix WithColumn(const Matrix& x, const Vector& last) {
  Matrix both(x.rows(), x.cols() + 1);
  both << x, last;
  return both;
}

DrawnBaseline DrawAr1(const std::vector<int>& counts, Random& random) {
  CalibrationInputs inputs(counts, kTestPoints, random);
  const CoKriging model(Unscaled(Unobserved(inputs)), kForm);
  Vector theta = DrawFrom(model.parameters(), random);
  const Matrix x = inputs.All();
  const Index n = x.rows(), levels = static_cast<Index>(counts.size());
  Matrix z(n * levels, 2);
  for (Index t = 0; t < levels; ++t) {
    z.middleRows(t * n, n) = WithColumn(x, Vector::Constant(n, static_cast<double>(t)));
  }
  const std::unique_ptr<const GpPrior> prior = model.At(theta);
  const Vector all = DrawGaussian(prior->Mean(z), prior->Among(z), random);
  std::vector<Vector> f;
  std::vector<double> noise;
  for (Index t = 0; t < levels; ++t) {
    f.push_back(all.segment(t * n, n));
    noise.push_back(model.Noise(theta, static_cast<int>(t)));
  }
  CalibrationData drawn = Observe(inputs, f, noise, random);
  return {.inputs = std::move(inputs), .theta = std::move(theta), .drawn = std::move(drawn)};
}

// One level's layer, without observations.
ChainLayer EmptyLayer(LayerKind kind, const Vector& lean) {
  LayerObservations none{.inputs = Matrix(0, kind == LayerKind::kFirst ? 1 : 2), .outputs = {}, .noise = {}};
  return ChainLayer(kind, std::move(none), kForm, lean);
}

DrawnBaseline DrawNargp(const std::vector<int>& counts, Random& random) {
  CalibrationInputs inputs(counts, kTestPoints, random);
  const Matrix x = inputs.All();
  const ChainLayer first = EmptyLayer(LayerKind::kFirst, {});
  Vector theta = DrawFrom(first.parameters(), random);
  const std::unique_ptr<const GpPrior> low = first.At(theta);
  std::vector<Vector> f = {DrawGaussian(low->Mean(x), low->Among(x), random)};
  std::vector<double> noise = {first.Noise(theta)};
  const Vector lean = first.Lean(theta);
  for (size_t t = 1; t < counts.size(); ++t) {
    const ChainLayer layer = EmptyLayer(LayerKind::kNonlinear, lean);
    const Vector own = DrawFrom(layer.parameters(), random);
    const Matrix z = WithColumn(x, f.back());
    const std::unique_ptr<const GpPrior> prior = layer.At(own);
    f.push_back(DrawGaussian(prior->Mean(z), prior->Among(z), random));
    noise.push_back(layer.Noise(own));
  }
  CalibrationData drawn = Observe(inputs, f, noise, random);
  return {.inputs = std::move(inputs), .theta = std::move(theta), .drawn = std::move(drawn)};
}

// The draws of several searches of a model with one stage, as a fit makes one, which differ in their random numbers.
absl::StatusOr<std::vector<StageParameters>> SampleStages(const BaselineModel& model, uint64_t seed) {
  std::vector<StageParameters> pooled;
  for (int k = 0; k < kSearches; ++k) {
    const FitOptions options{.kernel = kForm.family, .seed = kSearches * seed + k, .threads = 1};
    FitBudget budget(options);
    StageProgress progress;
    absl::StatusOr<StagesDone> fit = RunStageSearch(model, options, {}, budget, progress);
    if (!fit.ok()) return fit.status();
    if (pooled.empty()) pooled = {{.best = fit->found[0].best, .draws = {}}};
    for (StageDraw& draw : fit->found[0].draws) {
      draw.weight /= kSearches;
      pooled[0].draws.push_back(std::move(draw));
    }
  }
  return pooled;
}

using DrawBaseline = DrawnBaseline (*)(const std::vector<int>& counts, Random& random);

CalibrationReplicate RunExactBaseline(BaselineMethod method, DrawBaseline draw, const std::vector<int>& counts,
                                      uint32_t stream, uint64_t seed, uint32_t replicate) {
  Random random(seed, stream, replicate), rank_random(seed, stream + 1, replicate);
  const DrawnBaseline truth = draw(counts, random);
  const BaselineModel model(method, Unscaled(truth.drawn.data));
  absl::StatusOr<std::vector<StageParameters>> stages = SampleStages(model, FitSeed(seed, replicate));
  if (!stages.ok()) return FailedReplicate(stages.status());
  const absl::StatusOr<std::unique_ptr<const BaselinePosterior>> posterior = model.Posterior(*stages);
  if (!posterior.ok()) return FailedReplicate(posterior.status());
  PosteriorSample sample;
  const std::vector<StageDraw>& draws = (*stages)[0].draws;
  sample.weight.resize(static_cast<Index>(draws.size()));
  for (size_t s = 0; s < draws.size(); ++s) {
    sample.weight[static_cast<Index>(s)] = draws[s].weight;
    sample.theta.push_back(draws[s].theta);
  }
  for (int t = 0; t < static_cast<int>(counts.size()); ++t) {
    const Posterior::Gaussians f = (*posterior)->Predict(truth.inputs.test, t);
    sample.mean.push_back(f.mean);
    sample.variance.push_back(f.variance);
  }
  std::vector<int> places;
  for (int i = 0; i < truth.theta.size(); ++i) places.push_back(i);
  return Compare(sample, truth.theta, places, truth.drawn.test_f, rank_random);
}

CalibrationCase ExactBaseline(std::string name, BaselineMethod method, DrawBaseline draw, std::vector<int> counts,
                              std::vector<std::string> quantities, uint32_t stream) {
  CalibrationCase one{
      .name = std::move(name), .bar = CalibrationBar::kUniformRanks, .quantities = std::move(quantities), .run = {}};
  one.run = [=](uint64_t seed, uint32_t replicate) {
    return RunExactBaseline(method, draw, counts, stream, seed, replicate);
  };
  return one;
}

// As a user fits.
CalibrationCase PublicBaseline(std::string name, CalibrationBar bar, BaselineMethod method, DrawBaseline draw,
                               std::vector<int> counts, uint32_t stream) {
  CalibrationCase one{.name = std::move(name), .bar = bar, .quantities = {"f"}, .run = {}};
  one.run = [=](uint64_t seed, uint32_t replicate) {
    Random random(seed, stream, replicate);
    const DrawnBaseline truth = draw(counts, random);
    return FitAndCompare(NameOf(method), truth.drawn, truth.inputs.test, FitSeed(seed, replicate));
  };
  return one;
}

}  // namespace

std::vector<CalibrationCase> BaselineCalibration() {
  const std::vector<int> one = {kLowPoints}, two = {kLowPoints, kHighPoints};
  return {ExactBaseline("ar1 1 level", BaselineMethod::kAr1, DrawAr1, one, {"ls0", "v0", "mu", "n0", "f0"},
                        kBaselineStream),
          ExactBaseline("ar1 2 levels", BaselineMethod::kAr1, DrawAr1, two,
                        {"ls0", "v0", "mu", "n0", "ls1", "v1", "rh1", "a1", "n1", "f0", "f1"}, kBaselineStream + 2),
          ExactBaseline("nargp 1 level", BaselineMethod::kNargp, DrawNargp, one, {"ls", "v", "mu", "n", "f0"},
                        kBaselineStream + 4),
          PublicBaseline("nargp 2 levels fit", CalibrationBar::kCoverage, BaselineMethod::kNargp, DrawNargp, two,
                         kBaselineStream + 6),
          // The priors of AR1's levels hold for outputs in the model's own units; a fit standardises them by the data.
          PublicBaseline("ar1 2 levels fit", CalibrationBar::kNone, BaselineMethod::kAr1, DrawAr1, two,
                         kBaselineStream + 8)};
}

}  // namespace fidelio::bench
