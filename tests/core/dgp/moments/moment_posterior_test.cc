#include "core/dgp/moments/moment_posterior.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/moment_cases.h"
#include "tests/support/moment_reference.h"
#include "tests/support/naive_kennedy_ohagan.h"
#include "tests/support/naive_moments.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

MomentPosterior PosteriorAt(const std::shared_ptr<const MomentModel>& model, const Vector& theta) {
  MomentRecursion recursion(model);
  absl::StatusOr<MomentPosterior> posterior = MomentPosterior::Build(recursion, theta);
  EXPECT_TRUE(posterior.ok()) << posterior.status();
  return *std::move(posterior);
}

class MomentPosteriorReferenceTest : public testing::TestWithParam<MomentReferenceCase> {
 protected:
  const golden::MomentPoint& point_ = GetParam().point;
  const MomentPosterior posterior_ = PosteriorAt(GetParam().model, point_.theta);
};

TEST_P(MomentPosteriorReferenceTest, PredictionsAtEveryLevelEqualTheReference) {
  for (const golden::MomentPrediction& expected : point_.predictions) {
    SCOPED_TRACE(expected.level);
    const MomentPosterior::Gaussians actual = posterior_.Predict(GetParam().queries, expected.level);
    EXPECT_TRUE(RelativelyNear(actual.mean, expected.mean, 1e-8));
    EXPECT_TRUE(RelativelyNear(actual.variance, expected.variance, 1e-8));
  }
}

TEST_P(MomentPosteriorReferenceTest, LeaveOneOutResidualsEqualTheReference) {
  if (point_.leave_one_out < 0) return;
  EXPECT_NEAR(posterior_.leave_one_out(2) / point_.leave_one_out, 1, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Points, MomentPosteriorReferenceTest, testing::ValuesIn(MomentReferenceCases()),
                         [](const auto& test) { return test.param.name; });

class MomentPosteriorTest : public testing::TestWithParam<MomentCase> {
 protected:
  Matrix Queries(Index n) const { return 1.4 * RandomUniform(n, GetParam().dimension, 5).array() - 0.2; }

  const std::shared_ptr<const MomentModel> model_ = MakeMomentModel(GetParam());
  const NamedParameters p_ = MomentTheta(*model_);
  const MomentPosterior posterior_ = PosteriorAt(model_, p_.theta());
};

TEST_P(MomentPosteriorTest, PredictionsAtEveryLevelEqualTheNaiveRecursion) {
  const Matrix queries = Queries(6);
  const NaiveMoments naive = RunNaiveMoments(model_->data, model_->recipe, p_, queries);
  EXPECT_NEAR(posterior_.log_likelihood() / naive.log_likelihood, 1, 1e-9);
  EXPECT_TRUE(Near(posterior_.link_weights(), naive.link_weights, 1e-9));
  for (int t = 0; t < model_->data.levels(); ++t) {
    SCOPED_TRACE(t);
    const MomentPosterior::Gaussians actual = posterior_.Predict(queries, t);
    EXPECT_TRUE(Near(actual.mean, naive.mean[t], 1e-9));
    EXPECT_TRUE(Near(actual.variance, naive.variance[t], 1e-9));
  }
}

TEST_P(MomentPosteriorTest, LeaveOneOutResidualsEqualThoseOfDataWithAPointLeftOut) {
  const NaiveMoments naive = RunNaiveMoments(model_->data, model_->recipe, p_, Matrix(0, GetParam().dimension));
  for (int t = 0; t < model_->data.levels(); ++t) {
    const double expected = t == 0 ? naive.leave_one_out[0][0] : naive.link_weights.dot(naive.leave_one_out[t]);
    EXPECT_NEAR(posterior_.leave_one_out(t) / expected, 1, 1e-9) << t;
  }
}

TEST_P(MomentPosteriorTest, GradientEqualsCentralDifferencesAtEveryLevel) {
  const Matrix queries = Queries(4);
  const Matrix mean_bar = RandomNormal(posterior_.links(), 4, 8), variance_bar = RandomNormal(posterior_.links(), 4, 9);
  const double h = model_->recipe.kernel == KernelFamily::kMatern12 ? 5e-4 : 1e-3;  // a rough kernel bends more
  for (int t = 0; t < model_->data.levels(); ++t) {
    for (const bool of_variance : {false, true}) {
      const Matrix none = Matrix::Zero(posterior_.links(), 4);
      const auto value = [&](const Matrix& x) -> Vector {
        const MomentPosterior::Gaussians p = posterior_.Predict(x, t);
        const Matrix terms = of_variance ? p.variance.cwiseProduct(variance_bar) : p.mean.cwiseProduct(mean_bar);
        return terms.colwise().sum();
      };
      Matrix expected(queries.rows(), queries.cols());
      for (Index d = 0; d < queries.cols(); ++d) {
        Matrix step = Matrix::Zero(queries.rows(), queries.cols());
        step.col(d).setConstant(h);
        expected.col(d) = (8 * (value(queries + step) - value(queries - step)) -
                           (value(queries + 2 * step) - value(queries - 2 * step))) /
                          (12 * h);
      }
      const Matrix actual =
          posterior_.Gradient(queries, t, of_variance ? none : mean_bar, of_variance ? variance_bar : none);
      EXPECT_TRUE(RelativelyNear(actual, expected, 1e-6)) << "level " << t << ", of variance " << of_variance;
    }
  }
}

TEST_P(MomentPosteriorTest, QueriesDoNotInfluenceEachOther) {
  const Matrix queries = Queries(5), bar = RandomNormal(posterior_.links(), 5, 8);
  for (int t = 0; t < model_->data.levels(); ++t) {
    const MomentPosterior::Gaussians together = posterior_.Predict(queries, t);
    const Matrix gradient = posterior_.Gradient(queries, t, bar, bar);
    for (Index i = 0; i < queries.rows(); ++i) {
      const MomentPosterior::Gaussians alone = posterior_.Predict(queries.row(i), t);
      EXPECT_TRUE(Near(alone.mean, together.mean.col(i), 1e-12));
      EXPECT_TRUE(Near(alone.variance, together.variance.col(i), 1e-12));
      EXPECT_TRUE(Near(posterior_.Gradient(queries.row(i), t, bar.col(i), bar.col(i)), gradient.row(i), 1e-12));
    }
  }
}

TEST_P(MomentPosteriorTest, WhatAWorkspaceHeldBeforeDoesNotMatter) {
  const MomentQueries queries(*model_, Queries(5)), others(*model_, Queries(9));
  const Matrix bar = RandomNormal(posterior_.links(), 5, 8);
  MomentPosterior::Workspace used;
  for (int t = 0; t < model_->data.levels(); ++t) {
    Matrix mean(posterior_.links(), 9), variance(posterior_.links(), 9);
    posterior_.Predict(others, model_->data.levels() - 1, used, mean, variance);
    posterior_.Predict(queries, t, used, mean.leftCols(5), variance.leftCols(5));
    const MomentPosterior::Gaussians fresh = posterior_.Predict(queries.x, t);
    EXPECT_EQ(mean.leftCols(5), fresh.mean);
    EXPECT_EQ(variance.leftCols(5), fresh.variance);
    posterior_.Predict(others, model_->data.levels() - 1, used, mean, variance);
    EXPECT_EQ(posterior_.Gradient(queries, t, bar, bar, used), posterior_.Gradient(queries.x, t, bar, bar));
  }
}

TEST_P(MomentPosteriorTest, NoQueriesGiveEmptyPredictions) {
  for (int t = 0; t < model_->data.levels(); ++t) {
    EXPECT_EQ(posterior_.Predict(Matrix(0, GetParam().dimension), t).mean.cols(), 0);
    const Matrix bar(posterior_.links(), 0);
    EXPECT_EQ(posterior_.Gradient(Matrix(0, GetParam().dimension), t, bar, bar).rows(), 0);
  }
}

TEST_P(MomentPosteriorTest, NoiseIsTheLearnedVariance) {
  for (int t = 0; t < model_->data.levels(); ++t) EXPECT_EQ(posterior_.noise(t), model_->LearnedNoise(p_.theta(), t));
}

INSTANTIATE_TEST_SUITE_P(Cases, MomentPosteriorTest, testing::ValuesIn(MomentCases()),
                         [](const auto& test) { return test.param.name; });

// More points than fit a tile of a product or a register of lanes.
INSTANTIATE_TEST_SUITE_P(
    Sizes, MomentPosteriorTest,
    testing::Values(
        MomentCase{.name = "DozensOfPoints", .counts = {41, 26, 13}, .recipe = WithTrend(ReferenceRecipe2(), 0.5)},
        MomentCase{.name = "FewPointsBelowMany", .counts = {3, 30, 2}, .recipe = ReferenceRecipe2()}),
    [](const auto& test) { return test.param.name; });

// With s2 and vf at e⁻⁴⁰ the link is linear and the recursion, smoothing included, exact.
class LinearPosteriorTest : public testing::TestWithParam<MomentCase> {};

TEST_P(LinearPosteriorTest, EqualsTheJointKennedyOhaganPosteriorAtEveryLevel) {
  const auto model = MakeMomentModel(GetParam());
  NamedParameters p = MomentTheta(*model);
  for (int t = 1; t < model->data.levels(); ++t) {
    p.Set("s2" + std::to_string(t), -40);
    p.Set("vf" + std::to_string(t), -40);
  }
  const Matrix queries = 1.4 * RandomUniform(6, 2, 5).array() - 0.2;
  const MomentPosterior posterior = PosteriorAt(model, p.theta());
  for (int l = 0; l < posterior.links(); ++l) {
    const NaiveKennedyOhagan exact =
        RunNaiveKennedyOhagan(model->data, model->recipe, model->recipe.links[l], p, queries);
    for (int t = 0; t < model->data.levels(); ++t) {
      SCOPED_TRACE(testing::Message() << "link " << l << ", level " << t);
      const MomentPosterior::Gaussians actual = posterior.Predict(queries, t);
      EXPECT_TRUE(Near(actual.mean.row(l).transpose(), exact.mean[t], 1e-9));
      EXPECT_TRUE(Near(actual.variance.row(l).transpose(), exact.variance[t], 1e-9));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LinearPosteriorTest,
    testing::Values(
        MomentCase{.name = "TwoLevels", .counts = {9, 5}, .recipe = ReferenceRecipe1()},
        MomentCase{.name = "ThreeLevels", .counts = {9, 5, 4}, .recipe = WithTrend(ReferenceRecipe2(), 0.5)},
        MomentCase{.name = "ThreeLevelsNested", .counts = {9, 5, 4}, .recipe = ReferenceRecipe2(), .nested = true},
        MomentCase{.name = "EmptyMiddleLevel", .counts = {9, 0, 4}, .recipe = ReferenceRecipe2()},
        MomentCase{.name = "GivenNoise", .counts = {9, 5, 4}, .recipe = ReferenceRecipe2(), .given_noise = true}),
    [](const auto& test) { return test.param.name; });

TEST(MomentPosteriorLimitTest, DataWithoutNoiseIsInterpolatedAtItsLevel) {
  const auto model = MakeMomentModel({.name = "", .counts = {7, 4}, .recipe = ReferenceRecipe2()});
  NamedParameters p = MomentTheta(*model);
  p.Set("n0", -40);
  p.Set("n1", -40);
  const MomentPosterior posterior = PosteriorAt(model, p.theta());
  const MomentPosterior::Gaussians top = posterior.Predict(model->data.x.bottomRows(4), 1);
  for (int l = 0; l < posterior.links(); ++l) {
    EXPECT_TRUE(Near(top.mean.row(l).transpose(), model->data.y.tail(4), 1e-5));
    EXPECT_LT(top.variance.row(l).maxCoeff(), 1e-6);
  }
}

TEST(MomentPosteriorLimitTest, ExactDataOfAnEqualHigherLevelDeterminesALowerOne) {
  const MomentCase both{.name = "", .counts = {5, 6}, .recipe = ReferenceRecipe1()};
  const auto model = MakeMomentModel(both);
  NamedParameters p = MomentTheta(*model);
  for (const char* name : {"s21", "vf1", "vd1", "va1", "n1"}) p.Set(name, -20);
  const Matrix at = model->data.x.bottomRows(6);
  const double informed = PosteriorAt(model, p.theta()).Predict(at, 0).variance.mean();
  ScaledData without = model->data;  // the same scales, the upper level's data gone
  without.x.conservativeResize(5, Eigen::NoChange);
  without.y.conservativeResize(5);
  without.noise.conservativeResize(5);
  without.offset = {0, 5, 5};
  const auto lower = std::make_shared<MomentModel>(without, both.recipe);
  const double uninformed = PosteriorAt(lower, p.theta()).Predict(at, 0).variance.mean();
  EXPECT_LT(informed, 1e-5);
  EXPECT_GT(uninformed, 1e-2);
}

TEST(MomentPosteriorLimitTest, FarFromAllDataThePriorReturns) {
  const auto model = MakeMomentModel({.name = "", .counts = {7}, .recipe = ReferenceRecipe1()});
  const NamedParameters p = MomentTheta(*model);
  const MomentPosterior::Gaussians far = PosteriorAt(model, p.theta()).Predict(Matrix::Constant(1, 2, 1e3), 0);
  EXPECT_NEAR(far.mean(0, 0), p.Scalar("mu0"), 1e-12);
  EXPECT_NEAR(far.variance(0, 0), std::exp(p.Scalar("v0")), 1e-12);
}

TEST(MomentPosteriorErrorTest, BuildFailsWhereTheRecursionDoes) {
  const auto model = MakeMomentModel({.name = "", .counts = {7, 4}, .recipe = ReferenceRecipe1()});
  NamedParameters p = MomentTheta(*model);
  p.Set("vd1", std::numeric_limits<double>::quiet_NaN());
  MomentRecursion recursion(model);
  EXPECT_TRUE(IsError(MomentPosterior::Build(recursion, p.theta()).status(), absl::StatusCode::kInternal,
                      {"covariance of level 1"}));
}

}  // namespace
}  // namespace fidelio
