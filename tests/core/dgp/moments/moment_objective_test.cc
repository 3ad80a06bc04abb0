#include "core/dgp/moments/moment_objective.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "gtest/gtest.h"
#include "tests/support/gradient_check.h"
#include "tests/support/moment_cases.h"
#include "tests/support/moment_reference.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

class MomentObjectiveReferenceTest : public testing::TestWithParam<MomentReferenceCase> {};

TEST_P(MomentObjectiveReferenceTest, ValueAndGradientEqualTheReference) {
  MomentObjective objective(GetParam().model);
  const golden::MomentPoint& point = GetParam().point;
  double value;
  Vector gradient;
  ASSERT_TRUE(objective.Evaluate(objective.Whitened(point.theta), &value, &gradient));
  EXPECT_NEAR(value / point.negative_log_posterior, 1, 1e-8);
  const Vector scales = GetParam().model->layout.parameters.Scales();
  EXPECT_TRUE(RelativelyNear(gradient.cwiseQuotient(scales), point.gradient, 1e-8));
}

INSTANTIATE_TEST_SUITE_P(Points, MomentObjectiveReferenceTest, testing::ValuesIn(MomentReferenceCases()),
                         [](const auto& test) { return test.param.name; });

class MomentObjectiveTest : public testing::TestWithParam<MomentCase> {
 protected:
  const std::shared_ptr<const MomentModel> model_ = MakeMomentModel(GetParam());
};

TEST_P(MomentObjectiveTest, GradientEqualsCentralDifferences) {
  MomentObjective objective(model_);
  for (const uint64_t seed : {7, 8}) {
    const Vector theta = MomentTheta(*model_, seed).theta();
    const GradientCheck check = CheckGradient(objective, objective.Whitened(theta), 1e-3);
    EXPECT_LT(check.max_relative_error, 1e-6) << "component " << check.worst << ", seed " << seed;
  }
}

TEST_P(MomentObjectiveTest, ValueDoesNotDependOnWhetherTheGradientIsAskedFor) {
  MomentObjective objective(model_);
  const Vector z = objective.Whitened(MomentTheta(*model_).theta());
  double with, without;
  Vector gradient;
  ASSERT_TRUE(objective.Evaluate(z, &with, &gradient));
  ASSERT_TRUE(objective.Evaluate(z, &without, nullptr));
  EXPECT_EQ(with, without);
}

TEST_P(MomentObjectiveTest, IsTheNegativeLogLikelihoodPlusTheNegativeLogPrior) {
  MomentObjective objective(model_);
  MomentRecursion recursion(model_);
  const Vector theta = MomentTheta(*model_).theta();
  double value;
  ASSERT_TRUE(objective.Evaluate(objective.Whitened(theta), &value, nullptr));
  ASSERT_TRUE(recursion.Forward(theta).ok());
  Vector ignored = Vector::Zero(theta.size());
  const double prior = model_->layout.parameters.NegativeLogPrior(theta, ignored);
  EXPECT_NEAR(value, prior - recursion.log_likelihood(), 1e-10 * (1 + std::abs(value)));
}

INSTANTIATE_TEST_SUITE_P(Cases, MomentObjectiveTest, testing::ValuesIn(MomentCases()),
                         [](const auto& test) { return test.param.name; });

TEST(MomentObjectiveWhiteningTest, ZeroIsThePriorCentreAndOneAScale) {
  const auto model = MakeMomentModel({.name = "", .counts = {5, 3}, .recipe = ReferenceRecipe2()});
  const MomentObjective objective(model);
  const ParameterLayout& layout = model->layout.parameters;
  EXPECT_EQ(objective.size(), layout.size());
  EXPECT_EQ(objective.Theta(Vector::Zero(layout.size())), layout.Centres());
  EXPECT_EQ(objective.Theta(Vector::Ones(layout.size())), layout.Centres() + layout.Scales());
  const Vector theta = MomentTheta(*model).theta();
  EXPECT_TRUE(Near(objective.Theta(objective.Whitened(theta)), theta, 1e-14));
}

TEST(MomentObjectiveRefusalTest, PointsThatCantBeEvaluatedAreRefused) {
  const auto model = MakeMomentModel({.name = "", .counts = {5, 3}, .recipe = ReferenceRecipe2()});
  MomentObjective objective(model);
  const Vector z = Vector::Zero(objective.size());
  double value;
  Vector gradient;
  for (int i = 0; i < objective.size(); ++i) {
    for (const double wild : {std::numeric_limits<double>::quiet_NaN(), 1e4, -1e4}) {
      Vector far = z;
      far[i] = wild;
      // Refused or finite, never a non-finite number.
      if (objective.Evaluate(far, &value, &gradient)) {
        EXPECT_TRUE(std::isfinite(value)) << i << " " << wild;
        EXPECT_TRUE(gradient.allFinite()) << i << " " << wild;
        EXPECT_FALSE(std::isnan(wild)) << i;
      }
    }
  }
}

TEST(MomentObjectiveJitterTest, TheLargestJitterIsRemembered) {
  // Twins without noise and with a lengthscale beyond all inputs: a covariance that is singular to rounding.
  MomentCase c{.name = "", .counts = {12}, .recipe = ReferenceRecipe1(), .dimension = 1};
  c.recipe.noise_floor = 0;
  const auto model = MakeMomentModel(c);
  MomentObjective objective(model);
  NamedParameters p = MomentTheta(*model);
  double value;
  ASSERT_TRUE(objective.Evaluate(objective.Whitened(p.theta()), &value, nullptr));
  EXPECT_EQ(objective.max_jitter(), 0);
  p.Set("ls0", 6);
  p.Set("n0", -40);
  ASSERT_TRUE(objective.Evaluate(objective.Whitened(p.theta()), &value, nullptr));
  EXPECT_GT(objective.max_jitter(), 0);
}

}  // namespace
}  // namespace fidelio
