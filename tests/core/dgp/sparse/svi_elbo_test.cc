#include "core/dgp/sparse/svi_elbo.h"

#include <cmath>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/dgp/sparse/svi_training.h"
#include "gtest/gtest.h"
#include "tests/support/function_objective.h"
#include "tests/support/gradient_check.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

std::shared_ptr<const SviModel> SviModelOf(const std::vector<int>& sizes, const SviSettings& settings) {
  return std::make_shared<const SviModel>(ScaleData(SmallData(sizes, 2)), KernelFamily::kRbf, settings, 1);
}

Vector SomeParameters(const SviModel& model) {
  Random random(5, 0);
  Vector p = Vector::Zero(model.size);
  for (const SviModel::Layer& layer : model.layers) {
    const int m = static_cast<int>(layer.z.rows());
    p.segment(layer.kernel, layer.shape.size()) = 0.2 * random.NormalVector(layer.shape.size()).array() + 0.2;
    if (layer.link_variance >= 0) p[layer.link_variance] = 0.3 + 0.2 * random.Normal();
    if (layer.noise >= 0) p[layer.noise] = -2 + 0.2 * random.Normal();
    p.segment(layer.mean, m) = 0.5 * random.NormalVector(m);
    for (int j = 0; j < m; ++j) {
      for (int i = j; i < m; ++i) p[layer.root + j * m + i] = (i == j ? 0.5 : 0.1) + 0.1 * random.Normal();
    }
  }
  return p;
}

TEST(SviElboTest, GradientAgreesWithDifferences) {
  const auto model = SviModelOf({9, 6, 4}, {.inducing_points = 5, .batch_size = 5, .samples = 3});
  const Vector p = SomeParameters(*model);
  std::vector<int> free;  // all but the zeros above the diagonals of roots
  for (int i = 0; i < model->size; ++i) {
    if (p[i] != 0) free.push_back(i);
  }
  SviElbo elbo(model, 3, 1);
  FunctionObjective objective(static_cast<int>(free.size()), [&](const Vector& at, Vector* gradient) {
    Vector whole = p, whole_gradient;
    whole(free) = at;
    const auto value = elbo.Evaluate(whole, 7, &whole_gradient);
    EXPECT_TRUE(value.ok()) << value.status();
    if (gradient != nullptr) *gradient = whole_gradient(free);
    return *value;
  });
  EXPECT_LT(CheckGradient(objective, p(free), 1e-3).max_relative_error, 1e-6);
}

TEST(SviElboTest, TheFactorUndoesWhitening) {
  const auto model = SviModelOf({9, 6}, {.inducing_points = 6, .samples = 2});
  SviElbo elbo(model, 3, 1);
  const Vector p = SomeParameters(*model);
  for (int t = 0; t < 2; ++t) {
    const SviModel::Layer& layer = model->layers[t];
    const auto factor = elbo.Factor(t, p);
    const auto q = elbo.Whiten(t, p);
    ASSERT_TRUE(factor.ok() && q.ok());
    const Eigen::Index m = layer.z.rows();
    EXPECT_TRUE((*factor * q->mean).isApprox(p.segment(layer.mean, m), 1e-9));
    EXPECT_TRUE((*factor * q->root).isApprox(Eigen::Map<const Matrix>(p.data() + layer.root, m, m), 1e-9));
  }
}

TEST(SviElboTest, MiniBatchesEstimateTheWhole) {
  const auto batches = SviModelOf({40, 5}, {.inducing_points = 6, .batch_size = 8, .samples = 4});
  const auto whole = SviModelOf({40, 5}, {.inducing_points = 6, .batch_size = 40, .samples = 4});
  const Vector p = SomeParameters(*whole);
  SviElbo small(batches, 3, 1), large(whole, 3, 1);
  double sum = 0, square = 0, exact = 0;
  constexpr int kSteps = 3000;
  for (int step = 0; step < kSteps; ++step) {
    const double value = *small.Evaluate(p, step, nullptr);
    sum += value;
    square += value * value;
    exact += *large.Evaluate(p, step, nullptr);
  }
  const double mean = sum / kSteps, error = std::sqrt((square / kSteps - mean * mean) / kSteps);
  EXPECT_NEAR(mean, exact / kSteps, 5 * error);
  EXPECT_GT(error, 0);
}

TEST(SviElboTest, AStepDependsOnSeedAndNumberAlone) {
  const auto model = SviModelOf({30, 10}, {.inducing_points = 6, .batch_size = 8, .samples = 2});
  const Vector p = SomeParameters(*model);
  SviElbo one(model, 3, 1), two(model, 3, 2), other(model, 4, 1);
  Vector a, b;
  ASSERT_TRUE(one.Evaluate(p, 5, &a).ok());
  EXPECT_EQ(*one.Evaluate(p, 9, &a), *two.Evaluate(p, 9, &b));
  EXPECT_EQ(a, b);
  EXPECT_NE(*one.Evaluate(p, 9, &a), *other.Evaluate(p, 9, &b));
  EXPECT_NE(*one.Evaluate(p, 9, &a), *one.Evaluate(p, 10, &b));
}

TEST(SviModelTest, InducingInputsAreObservationsOfTheLevelBelow) {
  const Dataset data = SmallData({20, 8, 4}, 2);
  const SviModel model(ScaleData(data), KernelFamily::kRbf, SviSettings::For({20, 8, 4}, 0, 0), 1);
  EXPECT_EQ(model.layers[0].z.rows(), 20);
  EXPECT_EQ(model.layers[1].z.rows(), 10);  // every other one
  EXPECT_EQ(model.layers[2].z.rows(), 4);
  EXPECT_EQ(model.layers[1].zf[1], model.data.y[2]);
  EXPECT_EQ(model.settings.samples, 10);
  const SviModel gap(ScaleData(SmallData({20, 0, 4}, 2)), KernelFamily::kRbf, SviSettings::For({20, 0, 4}, 7, 0), 1);
  EXPECT_EQ(gap.layers[2].z.rows(), 7);
}

TEST(SviModelTest, OutputsOfAllLevelsTogetherAreStandardised) {
  Dataset data = SmallData({20, 0, 4}, 2);
  for (const double unit : {1.0, 1e12, 1e-12, 1e300}) {
    Dataset other = data;
    for (LevelData& level : other.levels) level.y = unit * (level.y.array() + 3);
    const ScaledData scaled = ScaleForSvi(other);
    const auto low = scaled.y.head(20).array(), high = scaled.y.tail(4).array();
    EXPECT_NEAR(low.mean() + high.mean(), 0, 1e-9) << unit;
    EXPECT_NEAR(low.square().mean() + high.square().mean(), 2.0 / 9, 1e-9) << unit;
    EXPECT_EQ(scaled.x.minCoeff(), 0);
    EXPECT_EQ(scaled.x.maxCoeff(), 1);
  }
  for (LevelData& level : data.levels) level.y.setConstant(5);
  EXPECT_TRUE(ScaleForSvi(data).y.isZero(0));
}

TEST(SviModelTest, SettingALayerGivesItsThetaAndNoise) {
  const auto model = SviModelOf({9, 6}, {.inducing_points = 6});
  Vector p = Vector::Zero(model->size);
  Random random(4, 0);
  for (const SviModel::Layer& layer : model->layers) {
    const Vector theta = random.NormalVector(layer.shape.size());
    layer.Set(theta, 0.03, p);
    EXPECT_TRUE(layer.Theta(p).isApprox(theta, 1e-9));
    EXPECT_NEAR(layer.Noise(p), 0.03, 1e-12);
  }
}

TEST(SviTrainingTest, BeginsAsPublished) {
  const auto model = SviModelOf({15, 8, 6}, SviSettings::For({15, 8, 6}, 0, 0));
  SviTraining training(model, 1, 1);
  const auto state = training.Start({}, {});
  ASSERT_TRUE(state.ok()) << state.status();
  const Vector& p = state->parameters;
  const auto mean_of = [&](int t) { return Vector(p.segment(model->layers[t].mean, model->layers[t].z.rows())); };
  EXPECT_EQ(mean_of(0), model->layers[0].zy);
  EXPECT_EQ(mean_of(1), model->layers[1].zy);
  EXPECT_EQ(mean_of(2), Vector::Zero(model->layers[2].z.rows()));
  const auto y = model->data.y.tail(6).array();
  const double noise = 0.01 * (y - y.mean()).square().mean();
  EXPECT_NEAR(model->layers[2].Noise(p), noise, 1e-9);
  EXPECT_NEAR(model->layers[0].Noise(p), 1e-6, 1e-12);
  const Matrix root = training.elbo().Whiten(2, p)->root;
  EXPECT_TRUE(root.isApprox(noise * Matrix::Identity(root.rows(), root.cols()), 1e-6));
}

TEST(SviTrainingTest, FixesInEachPhaseWhatThePublishedTrainingFixes) {
  const auto model = SviModelOf({15, 8, 6}, SviSettings::For({15, 8, 6}, 0, 0));
  SviTraining training(model, 1, 1);
  auto state = training.Start({}, {});
  ASSERT_TRUE(state.ok()) << state.status();
  const auto moved = [&](double fraction) {
    const Vector before = state->parameters;
    EXPECT_TRUE(training.Step(fraction, &*state).ok());
    return Vector(state->parameters - before);
  };
  const auto any = [](const Vector& v, int first, Eigen::Index count) { return v.segment(first, count).any(); };
  for (const int phase : {0, 1, 2}) {
    const Vector step = moved(phase == 0 ? 0 : phase == 1 ? 0.5 : 0.9);
    for (int t = 0; t < 3; ++t) {
      const SviModel::Layer& layer = model->layers[t];
      const Eigen::Index m = layer.z.rows();
      EXPECT_TRUE(any(step, layer.kernel, layer.shape.size())) << phase << t;
      EXPECT_EQ(any(step, layer.root, m * m), phase > 0) << phase << t;
      EXPECT_EQ(any(step, layer.mean, m), t != 1 || phase > 1) << phase << t;
      EXPECT_EQ(any(step, layer.noise, 1), t != 2 || phase > 0) << phase << t;
    }
  }
}

TEST(SviTrainingTest, TheBoundGrows) {
  const auto model = SviModelOf({15, 6}, SviSettings::For({15, 6}, 0, 0));
  SviTraining training(model, 1, 1);
  auto state = training.Start({}, {});
  ASSERT_TRUE(state.ok()) << state.status();
  constexpr int kSteps = 3000;
  double early = 0;
  for (int step = 0; step < kSteps; ++step) {
    ASSERT_TRUE(training.Step(static_cast<double>(step) / kSteps, &*state).ok());
    if (step == kSteps / 2) early = state->bound;
  }
  EXPECT_EQ(state->phase, 2);
  EXPECT_GT(state->bound, early);
}

}  // namespace
}  // namespace fidelio
