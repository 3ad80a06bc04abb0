#include "core/baseline/chain_layer.h"

#include <cmath>
#include <string>
#include <tuple>

#include "core/base/random.h"
#include "core/gp/gp_objective.h"
#include "core/gp/gp_posterior.h"
#include "gtest/gtest.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_names.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

// Near the prior's centre, but with a link that is not nearly straight and a noise that is not small: differences of values with a
// nearly singular covariance would feel its rounding.
Vector LayerTheta(const GpModel& model, uint64_t seed) {
  Random random(seed, 0);
  Vector theta = model.parameters().Centres() + 0.3 * random.NormalVector(model.parameters().size());
  for (const ParameterBlock& block : model.parameters().blocks()) {
    if (block.name == "lf") theta[block.offset] = 0.3;
    if (block.name == "n") theta[block.offset] = std::log(0.1);
  }
  return theta;
}

LayerObservations Observations(LayerKind kind, int n, bool learn_noise) {
  LayerObservations data;
  data.inputs = RandomNormal(n, kind == LayerKind::kFirst ? 2 : 3, 1);
  data.outputs = RandomNormal(n, 1, 2);
  data.learn_noise = learn_noise;
  data.noise = learn_noise ? Vector(Vector::Zero(n)) : Vector(Vector::LinSpaced(n, 0.1, 0.2));
  return data;
}

class ChainLayerTest : public ::testing::TestWithParam<std::tuple<LayerKind, KernelFamily>> {
 protected:
  ChainLayer Layer(bool learn_noise) const {
    const LayerKind kind = std::get<0>(GetParam());
    return ChainLayer(kind, Observations(kind, 8, learn_noise), {.family = std::get<1>(GetParam())},
                      kind == LayerKind::kFirst ? Vector() : Vector(Vector::LinSpaced(2, -0.5, 0.7)));
  }
};

TEST_P(ChainLayerTest, GradientEqualsCentralDifferences) {
  for (const bool learn_noise : {false, true}) {
    const ChainLayer layer = Layer(learn_noise);
    GpObjective objective(layer);
    const GradientCheck check = CheckGradient(objective, objective.Whitened(LayerTheta(layer, 7)), 1e-3);
    EXPECT_LT(check.max_relative_error, 1e-6) << "component " << check.worst;
  }
}

TEST_P(ChainLayerTest, CovariancesOfTrainingAndPredictionAgree) {
  const ChainLayer layer = Layer(true);
  const Vector theta = LayerTheta(layer, 5);
  Matrix k = Matrix::Zero(8, 8);
  Vector mean, noise;
  layer.NewEvaluation()->Forward(theta, k, mean, noise);
  const auto prior = layer.At(theta);
  const Matrix& z = layer.observations().inputs;
  EXPECT_TRUE(Near(prior->WithData(z).triangularView<Eigen::Lower>().toDenseMatrix(),
                   k.triangularView<Eigen::Lower>().toDenseMatrix(), 1e-12));
  EXPECT_TRUE(Near(prior->Among(z), prior->WithData(z), 1e-12));
  EXPECT_TRUE(Near(prior->Variance(z), k.diagonal(), 1e-12));
  EXPECT_TRUE(Near(prior->Mean(z), mean, 1e-12));
}

TEST_P(ChainLayerTest, InputGradientOfThePosteriorAgreesWithDifferences) {
  const ChainLayer layer = Layer(true);
  const auto posterior = GpPosterior::Build(layer, LayerTheta(layer, 5));
  ASSERT_TRUE(posterior.ok()) << posterior.status();
  const Matrix z = RandomNormal(4, static_cast<int>(layer.observations().inputs.cols()), 9);
  const Vector mean_bar = RandomNormal(4, 1, 10), variance_bar = RandomNormal(4, 1, 11);
  const Matrix gradient = posterior->Gradient(z, mean_bar, variance_bar);
  const auto value = [&](const Matrix& at) {
    const GpPosterior::Moments m = posterior->Predict(at);
    return mean_bar.dot(m.mean) + variance_bar.dot(m.variance);
  };
  constexpr double kStep = 1e-5;
  for (int i = 0; i < z.size(); ++i) {
    Matrix up = z, down = z;
    up.reshaped()[i] += kStep;
    down.reshaped()[i] -= kStep;
    EXPECT_NEAR(gradient.reshaped()[i], (value(up) - value(down)) / (2 * kStep), 1e-6) << i;
  }
}

const char* NameOf(LayerKind kind) {
  return kind == LayerKind::kFirst ? "First" : kind == LayerKind::kLinear ? "Linear" : "Nonlinear";
}

std::string LayerName(const ::testing::TestParamInfo<std::tuple<LayerKind, KernelFamily>>& test) {
  return std::string(NameOf(std::get<0>(test.param))) + KernelName(std::get<1>(test.param));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ChainLayerTest,
                         ::testing::Combine(::testing::Values(LayerKind::kFirst, LayerKind::kLinear,
                                                              LayerKind::kNonlinear),
                                            ::testing::ValuesIn(kAllKernelFamilies)),
                         LayerName);

}  // namespace
}  // namespace fidelio
