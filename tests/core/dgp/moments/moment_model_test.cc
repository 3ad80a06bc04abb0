#include "core/dgp/moments/moment_model.h"

#include <cmath>
#include <memory>

#include "gtest/gtest.h"
#include "tests/support/moment_cases.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

std::shared_ptr<const MomentModel> Model(const Recipe& recipe, int dimension = 2) {
  return MakeMomentModel({.name = "", .counts = {6, 4}, .recipe = recipe, .dimension = dimension});
}

TEST(TrendKernelTest, IsOneOnAverageOverTheBoxOnItsDiagonal) {
  for (const int dimension : {1, 3}) {
    const auto model = Model(WithTrend(ReferenceRecipe1(), 0), dimension);
    EXPECT_NEAR(model->TrendDiagonal(RandomUniform(200000, dimension, 1)).mean(), 1, 0.01);
  }
}

TEST(TrendKernelTest, DiagonalIsThatOfTheMatrix) {
  const auto model = Model(WithTrend(ReferenceRecipe1(), 0.7));
  const Matrix x = RandomUniform(9, 2, 2);
  EXPECT_TRUE(Near(model->TrendDiagonal(x), model->TrendKernel(x, x).diagonal(), 1e-13));
}

TEST(TrendKernelTest, CurvatureAddsTheSquare) {
  const auto straight = Model(WithTrend(ReferenceRecipe1(), 0)), curved = Model(WithTrend(ReferenceRecipe1(), 0.7));
  const Matrix a = RandomUniform(5, 2, 3), b = RandomUniform(4, 2, 4);
  const Matrix p = straight->TrendKernel(a, b);
  EXPECT_TRUE(Near(curved->TrendKernel(a, b), p.array() + 0.7 * p.array().square(), 1e-13));
}

TEST(MomentModelTest, UpperLengthscalesLeanOnTheFirstOnes) {
  const auto model = Model(ReferenceRecipe1());
  NamedParameters p(model->layout.parameters, model->layout.parameters.Centres());
  const Vector rho = model->RhoLengthscales(p.theta(), 1), delta = model->DeltaLengthscales(p.theta(), 1);
  p.Set("ls0", p.Block("ls0")[0] + 0.8);
  EXPECT_TRUE(Near(model->RhoLengthscales(p.theta(), 1), std::exp(0.4) * rho, 1e-13));
  EXPECT_TRUE(Near(model->DeltaLengthscales(p.theta(), 1), std::exp(0.4) * delta, 1e-13));
}

TEST(MomentModelTest, LearnedNoiseHasTheFloor) {
  const auto model = Model(ReferenceRecipe1());
  NamedParameters p(model->layout.parameters, model->layout.parameters.Centres());
  p.Set("n0", -100);
  p.Set("n1", -1);
  EXPECT_EQ(model->LearnedNoise(p.theta(), 0), 1e-8);
  EXPECT_NEAR(model->LearnedNoise(p.theta(), 1), std::exp(-2.0) + 1e-8, 1e-15);
}

TEST(MomentModelTest, GivenNoiseLeavesOnlyTheFloorToLearn) {
  const auto model = MakeMomentModel({.name = "", .counts = {6, 4}, .recipe = ReferenceRecipe1(), .given_noise = true});
  EXPECT_EQ(model->LearnedNoise(model->layout.parameters.Centres(), 1), 1e-8);
}

TEST(MomentModelTest, ScalarsAreNotLogarithms) {
  const auto model = Model(ReferenceRecipe1());
  NamedParameters p(model->layout.parameters, model->layout.parameters.Centres());
  p.Set("s21", std::log(2.0));
  p.Set("vf1", std::log(3.0));
  p.Set("lf1", std::log(4.0));
  p.Set("vd1", std::log(5.0));
  p.Set("va1", std::log(6.0));
  p.Set("rh1", -7);
  const LinkScalars s = model->Scalars(p.theta(), 1);
  EXPECT_NEAR(s.terms.linear.variance, 2, 1e-14);
  EXPECT_NEAR(s.terms.nonlinear.variance, 3, 1e-14);
  EXPECT_NEAR(s.terms.nonlinear.lengthscale2, 16, 1e-13);
  EXPECT_NEAR(s.delta, 5, 1e-14);
  EXPECT_NEAR(model->Offset(p.theta(), 1), 6, 1e-14);
  EXPECT_EQ(s.rho, -7);
  EXPECT_EQ(s.trend, 0);
}

}  // namespace
}  // namespace fidelio
