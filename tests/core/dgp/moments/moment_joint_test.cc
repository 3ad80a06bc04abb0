#include "core/dgp/moments/moment_joint.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/eigenvalues.h"
#include "tests/support/moment_cases.h"
#include "tests/support/naive_conditioning.h"
#include "tests/support/naive_kennedy_ohagan.h"
#include "tests/support/naive_moments.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

MomentPosterior PosteriorForJoint(const std::shared_ptr<const MomentModel>& model, const Vector& theta) {
  MomentRecursion recursion(model);
  absl::StatusOr<MomentPosterior> posterior = MomentPosterior::Build(recursion, theta);
  EXPECT_TRUE(posterior.ok()) << posterior.status();
  return *std::move(posterior);
}

struct Gaussian {
  Vector mean;
  Matrix covariance;
};

// One per link.
std::vector<Gaussian> Joint(const MomentPosterior& posterior, const MomentModel& model, const Matrix& x, int level) {
  const MomentQueries queries(model, x);
  MomentJoint joint(posterior, queries, std::vector<int>(x.rows(), level));
  std::vector<Gaussian> result(posterior.links());
  for (int l = 0; l < posterior.links(); ++l) joint.Under(l, result[l].mean, result[l].covariance);
  return result;
}

class MomentJointTest : public testing::TestWithParam<MomentCase> {
 protected:
  Matrix Queries(Index n) const { return 1.4 * RandomUniform(n, GetParam().dimension, 5).array() - 0.2; }
  std::vector<Gaussian> JointAt(const Matrix& x, int level) const { return Joint(posterior_, *model_, x, level); }

  const std::shared_ptr<const MomentModel> model_ = MakeMomentModel(GetParam());
  const NamedParameters p_ = MomentTheta(*model_);
  const MomentPosterior posterior_ = PosteriorForJoint(model_, p_.theta());
};

TEST_P(MomentJointTest, CovariancesAtEveryLevelEqualTheNaiveRecursion) {
  const Matrix queries = Queries(7);
  const NaiveMoments naive = RunNaiveMoments(model_->data, model_->recipe, p_, queries);
  for (int t = 0; t < model_->data.levels(); ++t) {
    const std::vector<Gaussian> actual = JointAt(queries, t);
    for (int l = 0; l < posterior_.links(); ++l) {
      SCOPED_TRACE(testing::Message() << "level " << t << ", link " << l);
      EXPECT_TRUE(Near(actual[l].mean, naive.mean[t].row(l).transpose(), 1e-9));
      EXPECT_TRUE(Near(actual[l].covariance, naive.covariance[t][l], 1e-9));
    }
  }
}

TEST_P(MomentJointTest, CovariancesAcrossLevelsEqualTheNaiveRecursion) {
  const int levels = model_->data.levels();
  constexpr int kPoints = 5;
  const Matrix x = Queries(kPoints);
  const NaiveMoments naive = RunNaiveMoments(model_->data, model_->recipe, p_, x);
  std::vector<int> level;
  for (int i = 0; i < levels * kPoints; ++i) level.push_back(i / kPoints);
  const MomentQueries queries(*model_, x.replicate(levels, 1));
  MomentJoint joint(posterior_, queries, level);
  for (int l = 0; l < posterior_.links(); ++l) {
    Gaussian actual;
    joint.Under(l, actual.mean, actual.covariance);
    EXPECT_TRUE(Near(actual.covariance, naive.across[l], 1e-9)) << "link " << l;
    for (int t = 0; t < levels; ++t) {
      EXPECT_TRUE(Near(actual.mean.segment(t * kPoints, kPoints), naive.mean[t].row(l).transpose(), 1e-9));
    }
  }
}

TEST_P(MomentJointTest, MeanAndDiagonalAreThoseOfPredict) {
  const Matrix queries = Queries(21);
  for (int t = 0; t < model_->data.levels(); ++t) {
    const std::vector<Gaussian> joint = JointAt(queries, t);
    const MomentPosterior::Gaussians single = posterior_.Predict(queries, t);
    for (int l = 0; l < posterior_.links(); ++l) {
      EXPECT_EQ(joint[l].mean, single.mean.row(l).transpose());
      EXPECT_EQ(joint[l].covariance.diagonal(), single.variance.row(l).transpose());
    }
  }
}

TEST_P(MomentJointTest, CovariancesArePositiveSemidefinite) {
  Matrix queries = Queries(40);
  queries.bottomRows(3) = queries.topRows(3);      // again the same point,
  queries.row(3) = queries.row(4).array() + 1e-7;  // nearly the same,
  queries.row(5) = model_->data.x.bottomRows(1);   // and an observed one
  for (int t = 0; t < model_->data.levels(); ++t) {
    for (const Gaussian& joint : JointAt(queries, t)) EXPECT_TRUE(IsPositiveSemidefinite(joint.covariance, 1e-10));
  }
}

TEST_P(MomentJointTest, FewerQueriesHaveTheCorrespondingPartOfTheCovariance) {
  const Matrix queries = Queries(30);
  for (int t = 0; t < model_->data.levels(); ++t) {
    const std::vector<Gaussian> all = JointAt(queries, t), some = JointAt(queries.middleRows(4, 11), t);
    for (int l = 0; l < posterior_.links(); ++l) {
      EXPECT_TRUE(Near(some[l].covariance, all[l].covariance.block(4, 4, 11, 11), 1e-12));
    }
  }
}

TEST_P(MomentJointTest, TheOrderOfTheLinksDoesNotMatter) {
  const MomentQueries queries(*model_, Queries(6));
  for (int t = 0; t < model_->data.levels(); ++t) {
    const std::vector<Gaussian> expected = JointAt(queries.x, t);
    MomentJoint joint(posterior_, queries, std::vector<int>(6, t));
    for (int l = posterior_.links() - 1; l >= 0; --l) {
      Gaussian actual;
      joint.Under(l, actual.mean, actual.covariance);
      EXPECT_EQ(actual.mean, expected[l].mean);
      EXPECT_EQ(actual.covariance, expected[l].covariance);
    }
  }
}

TEST_P(MomentJointTest, NoQueriesGiveEmptyMoments) {
  for (int t = 0; t < model_->data.levels(); ++t) {
    for (const Gaussian& joint : JointAt(Matrix(0, GetParam().dimension), t)) {
      EXPECT_EQ(joint.mean.size(), 0);
      EXPECT_EQ(joint.covariance.size(), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, MomentJointTest, testing::ValuesIn(MomentCases()),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Sizes, MomentJointTest,
                         testing::Values(MomentCase{.name = "DozensOfPoints",
                                                    .counts = {41, 26, 13},
                                                    .recipe = WithTrend(ReferenceRecipe2(), 0.5)}),
                         [](const auto& test) { return test.param.name; });

// With s2 and vf at e⁻⁴⁰ the link is linear and the recursion, smoothing included, exact.
class LinearJointTest : public testing::TestWithParam<MomentCase> {};

TEST_P(LinearJointTest, EqualsTheJointKennedyOhaganPosteriorAtEveryLevel) {
  const auto model = MakeMomentModel(GetParam());
  NamedParameters p = MomentTheta(*model);
  for (int t = 1; t < model->data.levels(); ++t) {
    p.Set("s2" + std::to_string(t), -40);
    p.Set("vf" + std::to_string(t), -40);
  }
  const Matrix queries = 1.4 * RandomUniform(9, 2, 5).array() - 0.2;
  const MomentPosterior posterior = PosteriorForJoint(model, p.theta());
  for (int l = 0; l < posterior.links(); ++l) {
    const NaiveKennedyOhagan exact =
        RunNaiveKennedyOhagan(model->data, model->recipe, model->recipe.links[l], p, queries);
    for (int t = 0; t < model->data.levels(); ++t) {
      SCOPED_TRACE(testing::Message() << "link " << l << ", level " << t);
      const Gaussian actual = Joint(posterior, *model, queries, t)[l];
      EXPECT_TRUE(Near(actual.mean, exact.mean[t], 1e-9));
      EXPECT_TRUE(Near(actual.covariance, exact.covariance[t], 1e-9));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, LinearJointTest,
    testing::Values(
        MomentCase{.name = "TwoLevels", .counts = {9, 5}, .recipe = ReferenceRecipe1()},
        MomentCase{.name = "ThreeLevels", .counts = {9, 5, 4}, .recipe = WithTrend(ReferenceRecipe2(), 0.5)},
        MomentCase{.name = "EmptyMiddleLevel", .counts = {9, 0, 4}, .recipe = ReferenceRecipe2()},
        MomentCase{.name = "GivenNoise", .counts = {9, 5, 4}, .recipe = ReferenceRecipe2(), .given_noise = true}),
    [](const auto& test) { return test.param.name; });

TEST(MomentJointLimitTest, OneLevelIsTheExactGaussianProcess) {
  const auto model = MakeMomentModel({.name = "", .counts = {10}, .recipe = ReferenceRecipe1()});
  const NamedParameters p = MomentTheta(*model);
  const Matrix queries = RandomUniform(12, 2, 5);
  Matrix x(22, 2);
  x << model->data.x, queries;
  const Matrix k = std::exp(p.Scalar("v0")) * NaiveKernelMatrix(KernelFamily::kRbf, x, x, p.Block("ls0").array().exp());
  const Vector noise = Vector::Constant(10, std::exp(2 * p.Scalar("n0")) + model->recipe.noise_floor);
  const NaiveConditioned exact = NaiveCondition(k, Vector::Constant(22, p.Scalar("mu0")), model->data.y, noise);
  const Gaussian actual = Joint(PosteriorForJoint(model, p.theta()), *model, queries, 0)[0];
  EXPECT_TRUE(Near(actual.mean, exact.mean, 1e-10));
  EXPECT_TRUE(Near(actual.covariance, exact.covariance, 1e-10));
}

}  // namespace
}  // namespace fidelio
