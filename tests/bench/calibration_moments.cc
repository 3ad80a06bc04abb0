// Calibration of MOMENTS. Exact with one level, and with two whose link is linear (s2 and vf so small that they do nothing).
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "core/dgp/moments/moment_model.h"
#include "core/dgp/moments/moment_posterior.h"
#include "core/dgp/moments/moment_recursion.h"
#include "core/dgp/moments/moment_target.h"
#include "core/dgp/moments/recipe.h"
#include "tests/bench/calibration_data.h"
#include "tests/bench/calibration_families.h"
#include "tests/bench/prior_draw.h"
#include "tests/support/naive_kernel.h"

namespace fidelio::bench {
namespace {

using Eigen::Index;

// f at all levels and inputs, from the definition of the model: f_t = ρ f_{t−1} + (1−ρ) z + g_t, one link, z = 0.
std::vector<Vector> DrawMomentFunctions(const MomentModel& model, const Vector& theta, const Matrix& x,
                                        Random& random) {
  const KernelFamily family = model.recipe.kernel;
  Matrix inputs;
  model.first->At(model, theta)->Inputs(x, inputs);
  const Vector ones = Vector::Ones(x.cols());
  const Matrix trend = model.TrendKernel(x, x);
  const MomentLayout& layout = model.layout;
  const Matrix first = std::exp(theta[layout.first.amplitude]) * NaiveKernelMatrix(family, inputs, inputs, ones) +
                       model.Trend(theta, 0) * trend;
  std::vector<Vector> f = {DrawGaussian(Vector::Constant(x.rows(), theta[layout.first.mean]), first, random)};
  for (int t = 1; t < model.data.levels(); ++t) {
    const LinkScalars s = model.Scalars(theta, t);
    const Vector below = f.back();
    Matrix link(x.rows(), x.rows());
    for (Index i = 0; i < x.rows(); ++i) {
      for (Index j = 0; j < x.rows(); ++j) {
        link(i, j) = s.terms.linear(below[i], below[j]) + s.terms.nonlinear(below[i], below[j]);
      }
    }
    link.array() *= NaiveKernelMatrix(family, x, x, model.RhoLengthscales(theta, t)).array();
    link += s.delta * NaiveKernelMatrix(family, x, x, model.DeltaLengthscales(theta, t)) + s.trend * trend;
    if (model.recipe.links[0].offset) link.array() += model.Offset(theta, t);
    f.push_back(s.rho * below + DrawGaussian(Vector::Zero(x.rows()), link, random));
  }
  return f;
}

struct DrawnMoments {
  CalibrationInputs inputs;
  Vector theta;
  CalibrationData drawn;
};

DrawnMoments DrawMoments(const Recipe& recipe, const std::vector<int>& counts, Random& random) {
  CalibrationInputs inputs(counts, kTestPoints, random);
  const MomentModel model(Unscaled(Unobserved(inputs)), recipe);
  Vector theta = DrawFrom(model.layout.parameters, random);
  const std::vector<Vector> f = DrawMomentFunctions(model, theta, inputs.All(), random);
  std::vector<double> noise;
  for (int t = 0; t < model.data.levels(); ++t) noise.push_back(model.LearnedNoise(theta, t));
  CalibrationData drawn = Observe(inputs, f, noise, random);
  return {.inputs = std::move(inputs), .theta = std::move(theta), .drawn = std::move(drawn)};
}

SearchSettings LongChains() {
  SearchSettings settings = MomentSettings(0);
  settings.chains = 4;
  settings.warmup = 200;
  settings.transitions = 1000;
  settings.draws = 200;
  settings.temperature = 1;
  settings.least_weight = 1e-3;
  return settings;
}

// Places in θ of blocks with these names, all of size 1.
std::vector<int> PlacesOf(const ParameterLayout& layout, const std::vector<std::string>& names) {
  std::vector<int> places;
  for (const std::string& name : names) {
    for (const ParameterBlock& block : layout.blocks()) {
      if (block.name == name) places.push_back(block.offset);
    }
  }
  return places;
}

CalibrationReplicate RunOwnMoments(const Recipe& recipe, const std::vector<int>& counts,
                                   const std::vector<std::string>& names, uint32_t stream, uint64_t seed,
                                   uint32_t replicate) {
  Random random(seed, stream, replicate), rank_random(seed, stream + 1, replicate);
  const DrawnMoments truth = DrawMoments(recipe, counts, random);
  const auto model = std::make_shared<const MomentModel>(Unscaled(truth.drawn.data), recipe);
  const MomentTarget target({model});
  FitBudget budget(FitOptions{});
  SharedSearchState state;
  const absl::StatusOr<SearchResult> fit = RunSearch(
      {.target = target, .settings = LongChains(), .seed = FitSeed(seed, replicate), .threads = 1}, budget, state);
  if (!fit.ok()) return FailedReplicate(fit.status());
  PosteriorSample sample;
  const Index draws = static_cast<Index>(fit->draws.size());
  sample.weight.resize(draws);
  sample.mean.assign(counts.size(), Matrix(draws, kTestPoints));
  sample.variance = sample.mean;
  MomentRecursion recursion(model);
  for (Index s = 0; s < draws; ++s) {
    const MomentDraw& draw = fit->draws[s];
    sample.weight[s] = draw.weight;
    sample.theta.push_back(draw.theta);
    const absl::StatusOr<MomentPosterior> posterior = MomentPosterior::Build(recursion, draw.theta);
    if (!posterior.ok()) return FailedReplicate(posterior.status());
    for (int t = 0; t < static_cast<int>(counts.size()); ++t) {
      const MomentPosterior::Gaussians f = posterior->Predict(truth.inputs.test, t);
      sample.mean[t].row(s) = f.mean.row(0);
      sample.variance[t].row(s) = f.variance.row(0);
    }
  }
  return Compare(sample, truth.theta, PlacesOf(model->layout.parameters, names), truth.drawn.test_f, rank_random);
}

Recipe OneLink() {
  Recipe recipe = DefaultRecipe(KernelFamily::kRbf);
  recipe.links = {{.offset = true, .raw_zero = false, .weight = 1}};
  return recipe;
}

// In the model's own units, with long chains.
CalibrationCase OwnMoments(std::string name, CalibrationBar bar, const Recipe& recipe, std::vector<int> counts,
                           std::vector<std::string> parameters, uint32_t stream) {
  CalibrationCase one{.name = std::move(name), .bar = bar, .quantities = parameters, .run = {}};
  for (size_t t = 0; t < counts.size(); ++t) one.quantities.push_back("f" + std::to_string(t));
  one.run = [=](uint64_t seed, uint32_t replicate) {
    return RunOwnMoments(recipe, counts, parameters, stream, seed, replicate);
  };
  return one;
}

// As a user fits: outputs standardised, all structures.
CalibrationCase PublicMoments(std::string name, const Recipe& recipe, std::vector<int> counts, uint32_t stream) {
  CalibrationCase one{.name = std::move(name), .bar = CalibrationBar::kCoverage, .quantities = {"f"}, .run = {}};
  one.run = [=](uint64_t seed, uint32_t replicate) {
    Random random(seed, stream, replicate);
    const DrawnMoments truth = DrawMoments(recipe, counts, random);
    return FitAndCompare("mf_dgp", truth.drawn, truth.inputs.test, FitSeed(seed, replicate));
  };
  return one;
}

}  // namespace

std::vector<CalibrationCase> MomentCalibration() {
  const std::vector<int> one = {kLowPoints}, two = {kLowPoints, kHighPoints};
  Recipe trend = OneLink();
  trend.warp = false;
  Recipe linear = trend;
  linear.linear = linear.nonlinear = Prior::Normal(-60, 1);
  Recipe bent = trend;
  bent.linear = bent.nonlinear = Prior::Normal(std::log(0.1), 1);
  return {OwnMoments("moments 1 level", CalibrationBar::kUniformRanks, OneLink(), one,
                     {"ls0", "cw", "v0", "n0", "mu0", "vl0"}, kMomentStream),
          OwnMoments("moments 2 levels linear link", CalibrationBar::kUniformRanks, linear, two,
                     {"ls0", "v0", "n0", "mu0", "vl0", "lsd1", "vd1", "va1", "rh1", "n1", "vl1"}, kMomentStream + 2),
          OwnMoments("moments 2 levels nonlinear link", CalibrationBar::kCoverage, bent, two,
                     {"ls0", "s21", "vf1", "lf1", "rh1"}, kMomentStream + 4),
          PublicMoments("moments 1 level fit", trend, one, kMomentStream + 6),
          PublicMoments("moments 2 levels fit", trend, two, kMomentStream + 8)};
}

}  // namespace fidelio::bench
