// Calibration of VARIATIONAL: hyperparameters are a point estimate, so only f is compared.
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "core/dgp/sparse/layer_kernel.h"
#include "core/dgp/sparse/variational_model.h"
#include "core/dgp/sparse/variational_search.h"
#include "tests/bench/calibration_data.h"
#include "tests/bench/calibration_families.h"

namespace fidelio::bench {
namespace {

// The priors are normal: their centres and scales follow from the gradient of the log density at 0 and at 1.
Vector DrawHyperparameters(const VariationalSearch& search, const VariationalModel& model, Random& random) {
  Vector at_zero = Vector::Zero(model.size), at_one = at_zero;
  search.LogPrior(Vector::Zero(model.size), &at_zero);
  search.LogPrior(Vector::Ones(model.size), &at_one);
  const Vector precision = (at_zero - at_one).head(model.hyperparameters);
  const Vector centre = at_zero.head(model.hyperparameters).cwiseQuotient(precision);
  return centre + random.NormalVector(model.hyperparameters).cwiseQuotient(precision.cwiseSqrt());
}

CalibrationReplicate RunVariational(const std::vector<int>& counts, uint32_t stream, uint64_t seed,
                                    uint32_t replicate) {
  Random random(seed, stream, replicate);
  const CalibrationInputs inputs(counts, kTestPoints, random);
  const auto model =
      std::make_shared<const VariationalModel>(Unscaled(Unobserved(inputs)), KernelFamily::kRbf,
                                               static_cast<int>(inputs.All().rows()), NodeRule::ForCounts(counts));
  const VariationalSearch search(model, {}, {}, 1);
  const Vector theta = DrawHyperparameters(search, *model, random);
  const Matrix x = inputs.All();
  std::vector<Vector> f;
  std::vector<double> noise;
  for (const VariationalModel::Layer& layer : model->layers) {
    const Vector below = f.empty() ? Vector() : f.back();
    LayerKernel kernel;
    Matrix k;
    kernel.Forward(layer.shape, theta.segment(layer.theta, layer.shape.size()), x, below,
                   {.x = &x, .f = f.empty() ? nullptr : &below}, k);
    f.push_back(DrawGaussian(Vector::Zero(x.rows()), k, random));
    noise.push_back(std::exp(theta[layer.noise]) + kVariationalNoiseFloor);
  }
  return FitAndCompare("mf_dgp_variational", Observe(inputs, f, noise, random), inputs.test, FitSeed(seed, replicate));
}

CalibrationCase Variational(std::string name, CalibrationBar bar, std::vector<int> counts, uint32_t stream) {
  CalibrationCase one{.name = std::move(name), .bar = bar, .quantities = {"f"}, .run = {}};
  one.run = [=](uint64_t seed, uint32_t replicate) { return RunVariational(counts, stream, seed, replicate); };
  return one;
}

}  // namespace

std::vector<CalibrationCase> VariationalCalibration() {
  return {
      Variational("variational 1 level of 80 fit", CalibrationBar::kCoverage, {80}, kVariationalStream),
      Variational("variational 2 levels of 40 and 24 fit", CalibrationBar::kCoverage, {40, 24}, kVariationalStream + 2),
      // With few observations, one point of hyperparameters is too sure of itself.
      Variational("variational 1 level fit", CalibrationBar::kNone, {kLowPoints}, kVariationalStream + 4),
      Variational("variational 2 levels fit", CalibrationBar::kNone, {kLowPoints, kHighPoints},
                  kVariationalStream + 6)};
}

}  // namespace fidelio::bench
