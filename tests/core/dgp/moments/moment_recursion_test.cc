#include "core/dgp/moments/moment_recursion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/moment_cases.h"
#include "tests/support/moment_reference.h"
#include "tests/support/naive_kennedy_ohagan.h"
#include "tests/support/naive_moments.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

class MomentRecursionReferenceTest : public testing::TestWithParam<MomentReferenceCase> {};

TEST_P(MomentRecursionReferenceTest, LikelihoodAndLinkWeightsEqualTheReference) {
  MomentRecursion recursion(GetParam().model);
  const golden::MomentPoint& point = GetParam().point;
  const absl::Status status = recursion.Forward(point.theta);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_NEAR(recursion.log_likelihood() / point.log_likelihood, 1, 1e-8);
  EXPECT_TRUE(Near(recursion.link_weights(), point.link_weights, 1e-8));
}

INSTANTIATE_TEST_SUITE_P(Points, MomentRecursionReferenceTest, testing::ValuesIn(MomentReferenceCases()),
                         [](const auto& test) { return test.param.name; });

class MomentRecursionTest : public testing::TestWithParam<MomentCase> {
 protected:
  const std::shared_ptr<const MomentModel> model_ = MakeMomentModel(GetParam());
};

TEST_P(MomentRecursionTest, EqualsTheNaiveRecursion) {
  const NamedParameters p = MomentTheta(*model_);
  const NaiveMoments naive = RunNaiveMoments(model_->data, model_->recipe, p, Matrix(0, GetParam().dimension));
  MomentRecursion recursion(model_);
  const absl::Status status = recursion.Forward(p.theta());
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(recursion.jitter(), 0);
  EXPECT_NEAR(recursion.log_likelihood() / naive.log_likelihood, 1, 1e-9);
  EXPECT_TRUE(Near(recursion.link_weights(), naive.link_weights, 1e-9));
}

TEST_P(MomentRecursionTest, EarlierEvaluationsDoNotMatter) {
  MomentRecursion fresh(model_), used(model_);
  const Vector theta = MomentTheta(*model_).theta(), other = MomentTheta(*model_, 8).theta();
  Vector gradient = Vector::Zero(theta.size()), again = gradient;
  ASSERT_TRUE(fresh.Forward(theta).ok());
  fresh.Reverse(gradient);
  ASSERT_TRUE(used.Forward(other).ok());
  used.Reverse(again);
  again.setZero();
  ASSERT_TRUE(used.Forward(theta).ok());
  used.Reverse(again);
  EXPECT_EQ(fresh.log_likelihood(), used.log_likelihood());
  EXPECT_EQ(gradient, again);
}

TEST_P(MomentRecursionTest, ReverseAddsToTheGradient) {
  MomentRecursion recursion(model_);
  const Vector theta = MomentTheta(*model_).theta();
  Vector gradient = Vector::Zero(theta.size()), on_ten = Vector::Constant(theta.size(), 10);
  ASSERT_TRUE(recursion.Forward(theta).ok());
  recursion.Reverse(gradient);
  recursion.Reverse(on_ten);
  EXPECT_TRUE(Near(on_ten, gradient.array() + 10, 1e-13));
}

INSTANTIATE_TEST_SUITE_P(Cases, MomentRecursionTest, testing::ValuesIn(MomentCases()),
                         [](const auto& test) { return test.param.name; });

// With s2 and vf at e⁻⁴⁰ the link is linear and moment matching exact.
class LinearLinkTest : public testing::TestWithParam<MomentCase> {};

TEST_P(LinearLinkTest, LikelihoodIsThatOfTheJointKennedyOhaganModel) {
  const auto model = MakeMomentModel(GetParam());
  NamedParameters p = MomentTheta(*model);
  for (int t = 1; t < model->data.levels(); ++t) {
    p.Set("s2" + std::to_string(t), -40);
    p.Set("vf" + std::to_string(t), -40);
  }
  MomentRecursion recursion(model);
  const absl::Status status = recursion.Forward(p.theta());
  ASSERT_TRUE(status.ok()) << status;
  double likelihood = 0, weights = 0, largest = -HUGE_VAL;
  std::vector<double> terms;
  for (const Link& link : model->recipe.links) {
    terms.push_back(RunNaiveKennedyOhagan(model->data, model->recipe, link, p, Matrix(0, 2)).log_likelihood);
    largest = std::max(largest, terms.back());
  }
  for (size_t l = 0; l < terms.size(); ++l) {
    likelihood += model->recipe.links[l].weight * std::exp(terms[l] - largest);
    weights += model->recipe.links[l].weight;
  }
  EXPECT_NEAR(recursion.log_likelihood() / (largest + std::log(likelihood / weights)), 1, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LinearLinkTest,
    testing::Values(
        MomentCase{.name = "TwoLevels", .counts = {9, 5}, .recipe = ReferenceRecipe1()},
        MomentCase{.name = "TwoLevelsNested", .counts = {9, 5}, .recipe = ReferenceRecipe1(), .nested = true},
        MomentCase{.name = "TwoLinks", .counts = {9, 5}, .recipe = ReferenceRecipe2()},
        MomentCase{.name = "ThreeLevels", .counts = {9, 5, 4}, .recipe = WithTrend(ReferenceRecipe2(), 0.5)},
        MomentCase{.name = "ThreeLevelsNested", .counts = {9, 5, 4}, .recipe = ReferenceRecipe2(), .nested = true},
        MomentCase{.name = "EmptyMiddleLevel", .counts = {9, 0, 4}, .recipe = ReferenceRecipe2()},
        MomentCase{.name = "GivenNoise", .counts = {9, 5, 4}, .recipe = ReferenceRecipe2(), .given_noise = true}),
    [](const auto& test) { return test.param.name; });

TEST(MomentRecursionLimitTest, OneLevelIsAnExactGaussianProcess) {
  const auto model = MakeMomentModel({.name = "", .counts = {10}, .recipe = WithTrend(ReferenceRecipe2(), 0.5)});
  const NamedParameters p = MomentTheta(*model);
  const NaiveInputs inputs(model->recipe, p);
  MomentRecursion recursion(model);
  ASSERT_TRUE(recursion.Forward(p.theta()).ok());
  const NaiveConditioned exact = NaiveCondition(inputs.First(model->data.x), Vector::Constant(10, p.Scalar("mu0")),
                                                model->data.y, inputs.Noise(model->data, 0));
  EXPECT_NEAR(recursion.log_likelihood() / exact.log_likelihood, 1, 1e-9);
}

TEST(MomentRecursionLimitTest, LikelihoodOfTheLevelsBelowIsThatOfTheirDataAlone) {
  const Dataset data = SmallData({6, 5, 4}, 2);
  const auto recursion_of = [&](int levels) {
    Dataset part = data;
    part.levels.resize(levels);
    part.box = InputBox{.lower = Vector::Zero(2), .upper = Vector::Ones(2)};
    return MomentRecursion(std::make_shared<MomentModel>(ScaleData(part), DefaultRecipe(KernelFamily::kRbf)));
  };
  MomentRecursion whole = recursion_of(3);
  const Vector theta = whole.model().layout.parameters.Centres().array() + 0.1;
  ASSERT_TRUE(whole.Forward(theta).ok());
  EXPECT_EQ(whole.log_likelihood_below(0), 0);
  for (int level = 1; level < 3; ++level) {
    MomentRecursion part = recursion_of(level);
    ASSERT_TRUE(part.Forward(theta.head(whole.model().layout.Begin(level))).ok());
    EXPECT_NEAR(whole.log_likelihood_below(level), part.log_likelihood(), 1e-9);
  }
}

TEST(MomentRecursionLimitTest, LinkWeightsNeedNotSumToOne) {
  Recipe doubled = ReferenceRecipe2();
  for (Link& link : doubled.links) link.weight *= 2;
  const auto model = MakeMomentModel({.name = "", .counts = {7, 4}, .recipe = ReferenceRecipe2()});
  const auto other = MakeMomentModel({.name = "", .counts = {7, 4}, .recipe = doubled});
  MomentRecursion a(model), b(other);
  ASSERT_TRUE(a.Forward(MomentTheta(*model).theta()).ok());
  ASSERT_TRUE(b.Forward(MomentTheta(*model).theta()).ok());
  EXPECT_NEAR(a.log_likelihood(), b.log_likelihood(), 1e-12);
}

TEST(MomentRecursionErrorTest, NamesTheCovarianceThatCantBeFactorised) {
  const auto model = MakeMomentModel({.name = "", .counts = {7, 4}, .recipe = ReferenceRecipe1()});
  MomentRecursion recursion(model);
  NamedParameters p = MomentTheta(*model);
  p.Set("vd1", std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(IsError(recursion.Forward(p.theta()), absl::StatusCode::kInternal, {"covariance of level 1"}));
  p.Set("v0", std::numeric_limits<double>::infinity());
  EXPECT_TRUE(IsError(recursion.Forward(p.theta()), absl::StatusCode::kInternal, {"covariance of level 0"}));
}

TEST(MomentRecursionErrorTest, AFailureIsForgottenByTheNextEvaluation) {
  const auto model = MakeMomentModel({.name = "", .counts = {7, 4}, .recipe = ReferenceRecipe1()});
  MomentRecursion fresh(model), used(model);
  NamedParameters p = MomentTheta(*model);
  const Vector theta = p.theta();
  p.Set("vd1", std::numeric_limits<double>::quiet_NaN());
  ASSERT_FALSE(used.Forward(p.theta()).ok());
  ASSERT_TRUE(used.Forward(theta).ok());
  ASSERT_TRUE(fresh.Forward(theta).ok());
  EXPECT_EQ(used.log_likelihood(), fresh.log_likelihood());
}

}  // namespace
}  // namespace fidelio
