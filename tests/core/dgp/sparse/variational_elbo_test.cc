#include "core/dgp/sparse/variational_elbo.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/base/normal.h"
#include "core/base/random.h"
#include "core/dgp/sparse/psi_statistics.h"
#include "core/optim/lbfgs.h"
#include "gtest/gtest.h"
#include "tests/support/function_objective.h"
#include "tests/support/gradient_check.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

std::shared_ptr<const VariationalModel> ModelOf(const std::vector<int>& sizes, int dimension, NodeRule rule = {}) {
  return std::make_shared<const VariationalModel>(ScaleData(SmallData(sizes, dimension)), KernelFamily::kRbf, 100,
                                                  rule);
}

// Something that a fit could pass through: noise e^−3, the rest about e^0, sites of all sizes.
Vector SomeParameters(const VariationalModel& model) {
  Random random(3, 0);
  Vector p = 0.3 * random.NormalVector(model.size);
  for (const VariationalModel::Layer& layer : model.layers) {
    if (layer.noise >= 0) p[layer.noise] -= 3;
  }
  return p;
}

double LogDensity(const Vector& y, const Matrix& covariance) {
  const Eigen::LLT<Matrix> llt(covariance);
  const Vector whitened = llt.matrixL().solve(y);
  return -0.5 * whitened.squaredNorm() - Matrix(llt.matrixL()).diagonal().array().log().sum() -
         0.5 * static_cast<double>(y.size()) * kLogTwoPi;
}

Matrix KernelOf(const VariationalModel& model, const Vector& p, int t, const Matrix& x, const Vector& f) {
  LayerKernel kernel;
  Matrix k;
  const VariationalModel::Layer& layer = model.layers[t];
  kernel.Forward(layer.shape, p.segment(layer.theta, layer.shape.size()), x, f, {.x = &x, .point = nullptr, .f = &f},
                 k);
  return k;
}

class GradientTest : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(GradientTest, AgreesWithDifferencesToOneInAMillion) {
  const auto model = ModelOf(GetParam(), 2);
  VariationalElbo elbo(model, 1e-8);
  FunctionObjective objective(model->size, [&](const Vector& p, Vector* gradient) {
    const auto value = elbo.Evaluate(p, gradient);
    EXPECT_TRUE(value.ok()) << value.status();
    return *value;
  });
  EXPECT_LT(CheckGradient(objective, SomeParameters(*model), 1e-3).max_relative_error, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Levels, GradientTest,
                         ::testing::Values(std::vector<int>{7}, std::vector<int>{8, 5}, std::vector<int>{8, 5, 3},
                                           std::vector<int>{6, 5, 4, 3}, std::vector<int>{7, 0, 3},
                                           std::vector<int>{6, 3, 0}));

TEST(VariationalElboTest, WithOneLevelAndAllInputsInducingItIsTheMarginalLikelihood) {
  const auto model = ModelOf({9}, 2);
  VariationalElbo elbo(model, 0);
  Vector p = SomeParameters(*model);
  const double noise = std::exp(p[model->layers[0].noise]) + kVariationalNoiseFloor;
  const Matrix k = KernelOf(*model, p, 0, model->data.x, {});
  const auto bound = elbo.Evaluate(p, nullptr);
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_NEAR(*bound, LogDensity(model->data.y, k + noise * Matrix::Identity(9, 9)), 1e-8);
}

TEST(VariationalElboTest, AtItsMaximumToo) {
  constexpr int kObserved = 10;
  Dataset data = SmallData({kObserved}, 2);
  data.levels[0].y += 0.3 * Random(5, 0).NormalVector(kObserved);
  const auto model = std::make_shared<const VariationalModel>(ScaleData(data), KernelFamily::kRbf, 100, NodeRule());
  VariationalElbo elbo(model, 0);
  FunctionObjective objective(
      model->size,
      [&](const Vector& p, Vector* gradient) {
        const auto value = elbo.Evaluate(p, gradient);
        EXPECT_TRUE(value.ok()) << value.status();
        if (gradient != nullptr) *gradient *= -1;
        return -*value;
      },
      [](const Vector& p) { return p.cwiseAbs().maxCoeff() < 8; });
  const LbfgsResult end = MinimiseLbfgs(objective, SomeParameters(*model), {}, [](double) { return true; });
  ASSERT_TRUE(end.converged);
  const double noise = std::exp(end.x[model->layers[0].noise]) + kVariationalNoiseFloor;
  const Matrix k = KernelOf(*model, end.x, 0, model->data.x, {});
  EXPECT_NEAR(-end.value, LogDensity(model->data.y, k + noise * Matrix::Identity(kObserved, kObserved)), 1e-8);
}

TEST(VariationalElboTest, FewerInducingInputsOnlyLowerIt) {
  const ScaledData data = ScaleData(SmallData({20}, 1));
  double before = std::numeric_limits<double>::infinity();
  for (const int inducing : {20, 8, 4, 2}) {
    const auto model = std::make_shared<const VariationalModel>(data, KernelFamily::kRbf, inducing, NodeRule());
    EXPECT_LE(static_cast<int>(model->layers[0].inducing.size()), inducing);
    VariationalElbo elbo(model, 1e-10);
    const double bound = *elbo.Evaluate(Vector{{-1.5, 0.3, -4.0}}, nullptr);
    EXPECT_LT(bound, before);
    before = bound;
  }
}

TEST(VariationalElboTest, IsALowerBoundOfTheMarginalLikelihoodOfALinearLink) {
  // f_2 = w·f_1 + δ with w ~ N(0, s2): given w, Kennedy and O'Hagan's model. Its marginal likelihood, averaged over w by
  // quadrature, is above the bound for every q.
  const auto model = ModelOf({8, 5}, 1);
  Vector p = SomeParameters(*model);
  const VariationalModel::Layer& top = model->layers[1];
  p[top.theta + top.shape.nonlinear()] = -30;
  p.segment(top.theta + top.shape.rho(), 1).setConstant(12);
  const double s2 = std::exp(p[top.theta + top.shape.linear()]),
               vd = std::exp(p[top.theta + top.shape.delta_variance()]);
  const int n0 = 8, n = 13;
  const Matrix first = KernelOf(*model, p, 0, model->data.x, {});
  const Matrix delta = [&] {
    const Matrix scaled = model->data.x / std::exp(p[top.theta + top.shape.delta()]);
    Matrix k(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) k(i, j) = vd * std::exp(-0.5 * (scaled.row(i) - scaled.row(j)).squaredNorm());
    }
    return k;
  }();
  Matrix noise = Matrix::Zero(n, n);
  noise.diagonal().head(n0).setConstant(std::exp(p[model->layers[0].noise]) + kVariationalNoiseFloor);
  noise.diagonal().tail(n - n0).setConstant(std::exp(p[top.noise]) + kVariationalNoiseFloor);
  constexpr int kSteps = 2000;
  double total = 0, largest = -std::numeric_limits<double>::infinity();
  std::vector<double> logs;
  const double step = 16.0 / kSteps;
  for (int i = 0; i <= kSteps; ++i) {
    const double u = -8 + i * step, w = u * std::sqrt(s2);
    Vector factor = Vector::Ones(n);
    factor.tail(n - n0).setConstant(w);
    Matrix c = factor.asDiagonal() * first * factor.asDiagonal();
    c.bottomRightCorner(n - n0, n - n0) += delta.bottomRightCorner(n - n0, n - n0);
    logs.push_back(LogDensity(model->data.y, c + noise) - 0.5 * u * u - 0.5 * kLogTwoPi + std::log(step));
    largest = std::max(largest, logs.back());
  }
  for (const double l : logs) total += std::exp(l - largest);
  const double exact = largest + std::log(total);

  VariationalElbo elbo(model, 1e-10);
  Vector gradient;
  double best = -std::numeric_limits<double>::infinity();
  for (int k = 0; k < 20; ++k) {  // better and better sites
    const double bound = *elbo.Evaluate(p, &gradient);
    EXPECT_LT(bound, exact);
    best = std::max(best, bound);
    elbo.MoveSites(0.5, &p);
  }
  EXPECT_GT(best, exact - 10);  // and not far below
}

TEST(VariationalElboTest, NaturalGradientStepsOfTheSitesClimb) {
  const auto model = ModelOf({10, 6, 4}, 1);
  VariationalElbo elbo(model, 1e-9);
  Vector p = SomeParameters(*model), gradient;
  const double before = *elbo.Evaluate(p, &gradient);
  double first = 0, last = 0;  // how far the steps go
  for (int k = 0; k < 20; ++k) {
    const Vector from = p;
    elbo.MoveSites(0.5, &p);
    last = (p - from).norm();
    if (k == 0) first = last;
    ASSERT_TRUE(elbo.Evaluate(p, &gradient).ok());
  }
  EXPECT_GT(*elbo.Evaluate(p, &gradient), before);
  EXPECT_GT(first, 0);
  EXPECT_LT(last, 0.1 * first);  // they come to rest
}

TEST(PsiStatisticsTest, AgreeWithQuadratureAndMonteCarlo) {
  const auto model = ModelOf({8, 6}, 1, {.two_levels = 41});
  const Vector p = SomeParameters(*model);
  VariationalElbo elbo(model, 1e-9);
  ASSERT_TRUE(elbo.Evaluate(p, nullptr).ok());
  const VariationalElbo::SecondLevel level = elbo.SecondLevelLikelihood(p);
  EXPECT_NEAR(level.closed_form, level.by_nodes, 1e-8 * std::abs(level.by_nodes));

  const LayerShape shape{.family = KernelFamily::kRbf, .dimension = 1, .linked = true};
  const Vector theta{{0.3, -0.2, -0.4, 0.2, -0.3, -1.0}};
  const Matrix z = Matrix::Random(3, 1), x = Matrix::Random(1, 1);
  const Vector zf{{-0.7, 0.1, 0.9}};
  const double m = 0.4, v = 0.3;
  const PsiStatistics psi(shape, theta, z, zf, x, Vector::Constant(1, m), Vector::Constant(1, v), Vector::Ones(1));
  constexpr int kDraws = 200000;
  Random random(7, 0);
  const Vector f = m + std::sqrt(v) * random.NormalVector(kDraws).array();
  const Matrix repeated = x.replicate(kDraws, 1);
  const LayerNodes nodes{.x = &repeated, .point = nullptr, .f = &f};
  LayerKernel kernel;
  Matrix k;
  kernel.Forward(shape, theta, z, zf, nodes, k);
  const double error = 5 / std::sqrt(static_cast<double>(kDraws));  // five standard errors of numbers of size 1
  EXPECT_TRUE(Near(psi.one, k.rowwise().mean(), error));
  EXPECT_TRUE(Near(psi.two, k * k.transpose() / kDraws, 2 * error));
  EXPECT_NEAR(psi.zero[0], LayerDiagonal(shape, theta, nodes).mean(), 2 * error);
}

}  // namespace
}  // namespace fidelio
