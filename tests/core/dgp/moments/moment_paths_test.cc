#include "core/dgp/moments/moment_paths.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/dgp/moments/moment_joint.h"
#include "gtest/gtest.h"
#include "tests/support/moment_cases.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

MomentPosterior PathPosterior(const std::shared_ptr<const MomentModel>& model, const Vector& theta) {
  MomentRecursion recursion(model);
  absl::StatusOr<MomentPosterior> posterior = MomentPosterior::Build(recursion, theta);
  EXPECT_TRUE(posterior.ok()) << posterior.status();
  return *std::move(posterior);
}

MomentPaths Draw(const MomentPosterior& posterior, int link, int count) {
  std::vector<Random> random;
  for (int i = 0; i < count; ++i) random.emplace_back(11, 0, static_cast<uint32_t>(i));
  return MomentPaths(posterior, std::vector<int>(count, link), std::move(random));
}

Matrix Values(const MomentPaths& paths, int count, const MomentModel& model, const Matrix& x, int level) {
  MomentPosterior::Workspace workspace;
  Matrix values(x.rows(), count);
  paths.Evaluate(MomentQueries(model, x), level, workspace, values);
  return values;
}

class MomentPathsTest : public testing::TestWithParam<MomentCase> {};

// Within the error of so many paths.
void ExpectPosteriorMoments(const MomentModel& model, const MomentPosterior& posterior) {
  constexpr int kCount = 2000;
  const Matrix x = 1.4 * RandomUniform(5, model.data.dimension(), 5).array() - 0.2;
  const int link = posterior.links() - 1;
  const MomentPaths paths = Draw(posterior, link, kCount);
  const MomentQueries queries(model, x);
  for (int t = 0; t < model.data.levels(); ++t) {
    SCOPED_TRACE(testing::Message() << "level " << t);
    MomentJoint joint(posterior, queries, std::vector<int>(x.rows(), t));
    Vector mean;
    Matrix covariance;
    joint.Under(link, mean, covariance);
    Matrix deviations = Values(paths, kCount, model, x, t);
    deviations.colwise() -= mean;
    for (Index i = 0; i < x.rows(); ++i) {
      const double variance = deviations.row(i).squaredNorm() / kCount;
      EXPECT_NEAR(deviations.row(i).mean(), 0, 4.5 * std::sqrt(variance / kCount)) << i;
      for (Index j = 0; j <= i; ++j) {
        const Eigen::ArrayXd products = deviations.row(i).cwiseProduct(deviations.row(j)).transpose();
        const double error = std::sqrt((products - products.mean()).square().mean() / kCount);
        EXPECT_NEAR(products.mean(), covariance(i, j), 4.5 * error) << i << "," << j;
      }
    }
  }
}

TEST_P(MomentPathsTest, ManyPathsHaveTheMomentsOfThePosterior) {
  const auto model = MakeMomentModel(GetParam());
  ExpectPosteriorMoments(*model, PathPosterior(model, MomentTheta(*model).theta()));
}

// Each function is one: the same values wherever, and in whatever company, it is evaluated.
TEST_P(MomentPathsTest, SubsetsAndOtherOrdersHaveTheSameValues) {
  constexpr int kCount = 3;
  const auto model = MakeMomentModel(GetParam());
  const MomentPosterior posterior = PathPosterior(model, MomentTheta(*model).theta());
  const MomentPaths paths = Draw(posterior, 0, kCount);
  const Matrix x = 1.4 * RandomUniform(40, GetParam().dimension, 5).array() - 0.2;
  for (int t = 0; t < model->data.levels(); ++t) {
    const Matrix all = Values(paths, kCount, *model, x, t);
    EXPECT_TRUE(Near(Values(paths, kCount, *model, x.middleRows(7, 5), t), all.middleRows(7, 5), 1e-11));
    EXPECT_TRUE(Near(Values(paths, kCount, *model, x.colwise().reverse(), t), all.colwise().reverse(), 1e-11));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, MomentPathsTest, testing::ValuesIn(MomentCases()),
                         [](const auto& test) { return test.param.name; });

TEST(MomentPathsLimitTest, PathsPassThroughDataWithoutNoise) {
  const auto model = MakeMomentModel({.name = "", .counts = {9, 6, 4}, .recipe = ReferenceRecipe2(), .nested = true});
  NamedParameters p = MomentTheta(*model);
  for (int t = 0; t < 3; ++t) p.Set("n" + std::to_string(t), -12);
  const MomentPosterior posterior = PathPosterior(model, p.theta());
  const MomentPaths paths = Draw(posterior, 1, 20);
  for (int t = 0; t < 3; ++t) {
    const Index at = model->data.offset[t], n = model->data.count(t);
    const Matrix values = Values(paths, 20, *model, model->data.x.middleRows(at, n), t);
    // Data of the levels above can move a lower level a little away from its own.
    const Matrix mean = posterior.Predict(model->data.x.middleRows(at, n), t).mean.row(1);
    EXPECT_TRUE(Near(values, mean.transpose().replicate(1, 20), 1e-3)) << "level " << t;
    if (t == 2) {
      EXPECT_TRUE(Near(values, model->data.y.segment(at, n).replicate(1, 20), 1e-3));
    }
    // And not elsewhere.
    const Matrix beside = Values(paths, 20, *model, model->data.x.middleRows(at, n).array() + 0.3, t);
    EXPECT_GT((beside.colwise() - beside.rowwise().mean()).cwiseAbs().maxCoeff(), 0.05) << "level " << t;
  }
}

TEST(MomentPathsLimitTest, NoQueriesGiveNoValues) {
  const auto model = MakeMomentModel({.name = "", .counts = {5, 3}, .recipe = ReferenceRecipe1()});
  const MomentPosterior posterior = PathPosterior(model, MomentTheta(*model).theta());
  EXPECT_EQ(Values(Draw(posterior, 0, 2), 2, *model, Matrix(0, 2), 1).size(), 0);
}

}  // namespace
}  // namespace fidelio
