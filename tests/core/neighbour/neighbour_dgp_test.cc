#include "core/neighbour/neighbour_dgp.h"

#include <cmath>
#include <memory>
#include <vector>

#include "core/data/dataset_bytes.h"
#include "core/data/scaling_bytes.h"
#include "core/dgp/moments/moment_posterior.h"
#include "core/dgp/moments/recipe_bytes.h"
#include "core/emulator/fitted_emulator.h"
#include "core/emulator/inflation.h"
#include "core/emulator/output_transform.h"
#include "core/emulator/report_bytes.h"
#include "core/emulator/transformed_emulator.h"
#include "core/neighbour/neighbour_dgp_fit.h"
#include "core/neighbour/neighbour_dgp_posterior.h"
#include "gtest/gtest.h"
#include "tests/core/neighbour/stack_cases.h"
#include "tests/support/eigenvalues.h"
#include "tests/support/near.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

std::unique_ptr<MixtureEmulator> Fit(const Dataset& data, FitOptions options = {},
                                     int neighbours = kDefaultNeighbours) {
  if (options.max_iterations > 1000) options.max_iterations = 400;
  options.kernel = KernelFamily::kMatern52;
  auto fit = NeighbourDgpFit::Create(data, options, neighbours);
  EXPECT_TRUE(fit.ok()) << fit.status();
  auto model = (*fit)->Run(nullptr);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

// The upper levels over a stack of all neighbours against the recursion of all levels, at the same hyperparameters.
TEST(UpperPointsTest, AreTheExactModelWhenAllAreNeighbours) {
  const Dataset data = StackData({50, 20, 10}, 2);
  const auto kernel = KernelFamily::kMatern32;
  const Scaling scaling = ScaleData(data).scaling;
  const Matrix x = SmallQueries(8, 2);
  const auto exact_model = std::make_shared<const MomentModel>(ScaleData(data), PlainRecipe(kernel));
  MomentRecursion exact_recursion(exact_model);
  const Vector theta = ExactTheta(data);
  const auto exact = MomentPosterior::Build(exact_recursion, theta);
  ASSERT_TRUE(exact.ok()) << exact.status();
  for (const int stacked : {1, 2}) {
    const auto stack = MakeStack(data, stacked, 1000, kernel);
    const UpperPoints upper(*stack, data, scaling, 2);
    const auto model = upper.Model(PlainRecipe(kernel));
    MomentRecursion recursion(model);
    const auto posterior = MomentPosterior::Build(recursion, theta.tail(model->layout.parameters.size()));
    ASSERT_TRUE(posterior.ok()) << posterior.status();
    EXPECT_NEAR(posterior->log_likelihood(), exact->log_likelihood() - exact->log_likelihood_below(stacked), 1e-7);
    QueryMoments given{
        .cross = Matrix(upper.data().y.size(), x.rows()), .mean = Vector(x.rows()), .variance = Vector(x.rows())};
    std::vector<std::vector<Stencil>> stencils;
    const Matrix columns = x.transpose();
    for (Index i = 0; i < x.rows(); ++i) {
      stencils.push_back(stack->Reach(columns.col(i).data(), stacked - 1));
      const ReachedPoint point{columns.col(i).data(), stencils.back().data()};
      given.mean[i] = stencils.back().back().mean;
      given.variance[i] = stencils.back().back().variance;
      given.cross.col(i) = stack->Covariance(stacked - 1, upper.reached(), {&point, 1});
    }
    const MomentQueries queries(*model, x, given);
    for (int level = stacked - 1; level < 3; ++level) {
      SCOPED_TRACE(level);
      MomentPosterior::Workspace workspace;
      Matrix mean(1, x.rows()), variance(1, x.rows());
      posterior->Predict(queries, level + 1 - stacked, workspace, mean, variance);
      const auto expected = exact->Predict(x, level);
      EXPECT_TRUE(Near(mean, expected.mean, 1e-8));
      EXPECT_TRUE(Near(variance, expected.variance, 1e-8));
    }
  }
}

class NeighbourDgpTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    data_ = new Dataset(StackData({400, 25}, 2));
    model_ = Fit(*data_, {.seed = 4}).release();
  }
  static void TearDownTestSuite() {
    delete model_;
    delete data_;
  }
  static inline Dataset* data_ = nullptr;
  static inline MixtureEmulator* model_ = nullptr;
};

TEST_F(NeighbourDgpTest, ACheckpointWithAStructureOfOtherLevelsIsDamage) {
  const auto& fitted = dynamic_cast<const FittedEmulator&>(*model_);
  const NeighbourDgpParameters found = dynamic_cast<const NeighbourDgpPosterior&>(fitted.posterior()).parameters();
  ASSERT_FALSE(found.recipes.empty());
  for (const int first_level : {0, -3, 1, 1'000'000'000}) {
    NeighbourDgpParameters changed = found;
    changed.recipes.back().first_level = first_level;
    ByteWriter out;
    WriteDataset(fitted.state().data, out);
    WriteScaling(fitted.state().scaling, out);
    out(changed.neighbours, changed.centres, changed.layers, changed.recipes, changed.draws);
    WriteReport(fitted.state().report, out);
    WriteInflation(fitted.state().inflation, out);
    const auto loaded = LoadNeighbourDgp(out.Seal(kNeighbourDgpKind, 3));
    EXPECT_EQ(loaded.status().code(), first_level == 0 ? absl::StatusCode::kOk : absl::StatusCode::kDataLoss)
        << first_level;
  }
}

TEST_F(NeighbourDgpTest, PredictsEveryFidelity) {
  const Matrix x = SmallQueries(200, 2);
  for (const int level : {0, 1}) {
    const auto prediction = model_->Predict(x, {.level = level, .quantiles = {0.025, 0.975}});
    ASSERT_TRUE(prediction.ok());
    int inside = 0;
    for (Index i = 0; i < x.rows(); ++i) {
      const double truth = SmallFunction(x.row(i), level);
      EXPECT_NEAR(prediction->mean[i], truth, 0.25) << level;
      inside += prediction->quantiles(i, 0) < truth && truth < prediction->quantiles(i, 1);
    }
    EXPECT_GT(inside, 0.8 * x.rows());
  }
}

TEST_F(NeighbourDgpTest, LoadsWhatItSaved) {
  const auto loaded = LoadNeighbourDgp(model_->Save());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Matrix x = SmallQueries(20, 2);
  for (const int level : {0, 1}) {
    EXPECT_EQ((*loaded)->Predict(x, {.level = level})->mean, model_->Predict(x, {.level = level})->mean);
    EXPECT_EQ((*loaded)->Predict(x, {.level = level})->variance, model_->Predict(x, {.level = level})->variance);
  }
  EXPECT_EQ((*loaded)->Save(), model_->Save());
}

TEST_F(NeighbourDgpTest, DamagedBytesAreRefused) {
  std::string bytes = model_->Save();
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_EQ(LoadNeighbourDgp(bytes).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(NeighbourDgpTest, PredictionsDoNotDependOnThreads) {
  const Matrix x = SmallQueries(150, 2);
  EXPECT_EQ(model_->Predict(x, {.threads = 1})->mean, model_->Predict(x, {.threads = 3})->mean);
  EXPECT_EQ(model_->JointMoments(x, {.threads = 1})->covariance, model_->JointMoments(x, {.threads = 3})->covariance);
}

TEST_F(NeighbourDgpTest, JointMomentsAgreeWithPredictions) {
  const Matrix x = SmallQueries(30, 2);
  for (const int level : {0, 1}) {
    const auto joint = model_->JointMoments(x, {.level = level, .include_noise = true});
    ASSERT_TRUE(joint.ok()) << joint.status();
    const auto prediction = model_->Predict(x, {.level = level, .include_noise = true});
    EXPECT_TRUE(RelativelyNear(joint->mean, prediction->mean, 1e-10));
    EXPECT_TRUE(RelativelyNear(joint->covariance.diagonal(), prediction->variance, 1e-8));
    EXPECT_TRUE(IsPositiveSemidefinite(joint->covariance, 1e-8));
  }
}

TEST_F(NeighbourDgpTest, JointMomentsAcrossFidelitiesHoldThoseOfEach) {
  const Matrix x = SmallQueries(10, 2);
  const std::vector<int> levels = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0};
  const auto joint = model_->JointMomentsAt(x, levels, {});
  ASSERT_TRUE(joint.ok()) << joint.status();
  EXPECT_TRUE(IsPositiveSemidefinite(joint->covariance, 1e-8));
  for (Index i = 0; i < x.rows(); ++i) {
    const auto one = model_->Predict(x.row(i), {.level = levels[i]});
    EXPECT_NEAR(joint->mean[i], one->mean[0], 1e-9);
    EXPECT_NEAR(joint->covariance(i, i) / one->variance[0], 1, 1e-8);
  }
}

TEST_F(NeighbourDgpTest, PathsHaveTheJointMoments) {
  const Matrix x = SmallQueries(3, 2);
  const auto joint = model_->JointMoments(x, {});
  const auto paths = model_->SamplePaths(x, {.count = 20000, .seed = 2, .threads = 2});
  ASSERT_TRUE(paths.ok()) << paths.status();
  const Vector mean = paths->colwise().mean();
  const Matrix centred = paths->rowwise() - mean.transpose();
  const Matrix covariance = centred.transpose() * centred / 20000;
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(mean[i], joint->mean[i], 4 * std::sqrt(joint->covariance(i, i) / 20000));
    EXPECT_NEAR(covariance(i, i) / joint->covariance(i, i), 1, 0.06);
  }
  EXPECT_EQ(*paths, *model_->SamplePaths(x, {.count = 20000, .seed = 2, .threads = 1}));
}

TEST_F(NeighbourDgpTest, InputGradientsAgreeWithDifferences) {
  const Matrix x = SmallQueries(6, 2);
  for (const int level : {0, 1}) {
    const auto prediction = model_->Predict(x, {.level = level, .input_gradient = true});
    ASSERT_TRUE(prediction.ok());
    for (int d = 0; d < 2; ++d) {
      constexpr double kStep = 1e-6;
      Matrix up = x, down = x;
      up.col(d).array() += kStep;
      down.col(d).array() -= kStep;
      const Vector difference =
          (model_->Predict(up, {.level = level})->mean - model_->Predict(down, {.level = level})->mean) / (2 * kStep);
      EXPECT_TRUE(Near(prediction->input_gradient.col(d), difference, 1e-5)) << level;
    }
  }
}

TEST_F(NeighbourDgpTest, MixtureGradientsOfVariancesAgreeWithDifferences) {
  const Matrix x = SmallQueries(5, 2);
  const auto mixture = model_->PredictMixture(x, {});
  ASSERT_TRUE(mixture.ok());
  const Matrix none = Matrix::Zero(mixture->mean.rows(), x.rows());
  const auto gradient = model_->MixtureGradient(x, none, mixture->weight.replicate(1, x.rows()), {});
  ASSERT_TRUE(gradient.ok());
  const auto value = [&](const Matrix& at) -> Vector {
    const auto mixture_at = model_->PredictMixture(at, {});
    return mixture_at->variance.transpose() * mixture_at->weight;
  };
  for (int d = 0; d < 2; ++d) {
    constexpr double kStep = 1e-6;
    Matrix up = x, down = x;
    up.col(d).array() += kStep;
    down.col(d).array() -= kStep;
    EXPECT_TRUE(Near(gradient->col(d), (value(up) - value(down)) / (2 * kStep), 1e-5));
  }
}

TEST_F(NeighbourDgpTest, LeftOutObservationsAreThoseOfSmallLevelsAndSomeOfLargeOnes) {
  const auto left_out = model_->LeaveOneOutPredictions();
  ASSERT_TRUE(left_out.ok());
  EXPECT_EQ((*left_out)[0].y.size(), 400);
  EXPECT_EQ((*left_out)[1].y, data_->levels[1].y);
  for (const LeaveOneOut& level : *left_out) {
    const Vector residual = (level.y - level.mean).cwiseQuotient(level.variance.cwiseSqrt());
    EXPECT_LT(residual.squaredNorm() / static_cast<double>(residual.size()), 3);
    EXPECT_GT(residual.squaredNorm() / static_cast<double>(residual.size()), 0.2);
  }
}

TEST_F(NeighbourDgpTest, ConditionTakesNewObservationsIntoAccount) {
  Dataset more = *data_;
  const Matrix x = SmallQueries(3, 2, 17);
  for (const int level : {0, 1}) {
    LevelData& to = more.levels[level];
    const Index n = to.y.size();
    to.x.conservativeResize(n + 3, Eigen::NoChange);
    to.y.conservativeResize(n + 3);
    to.x.bottomRows(3) = x;
    for (Index i = 0; i < 3; ++i) to.y[n + i] = SmallFunction(x.row(i), level);
  }
  const auto conditioned = model_->Condition(more, 2);
  ASSERT_TRUE(conditioned.ok()) << conditioned.status();
  for (const int level : {0, 1}) {
    const auto before = model_->Predict(x, {.level = level}), after = (*conditioned)->Predict(x, {.level = level});
    for (Index i = 0; i < 3; ++i) EXPECT_LT(after->variance[i], before->variance[i]);
  }
  const auto same = model_->Condition(*data_, 1);
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(RelativelyNear((*same)->Predict(x, {})->mean, model_->Predict(x, {})->mean, 1e-9));
}

TEST_F(NeighbourDgpTest, ConditionNeedsTheSameKindOfNoise) {
  Dataset other = *data_;
  other.levels[1].noise_variance = Vector::Constant(other.levels[1].y.size(), 0.1);
  EXPECT_TRUE(IsError(model_->Condition(other, 1).status(), absl::StatusCode::kFailedPrecondition,
                      {"level 1", "learned", "fit again"}));
}

TEST(NeighbourDgpFitTest, StacksLargeLevelsAndAnEmptyTop) {
  Dataset data = StackData({1700, 1600, 8}, 2);
  EXPECT_EQ(StackedLevels(data), 2);
  const auto model = Fit(data, {.seed = 1, .max_iterations = 60}, 12);
  const Matrix x = SmallQueries(30, 2);
  for (const int level : {0, 1, 2}) {
    const auto prediction = model->Predict(x, {.level = level});
    ASSERT_TRUE(prediction.ok());
    double error = 0;
    for (Index i = 0; i < x.rows(); ++i) {
      error += std::pow(prediction->mean[i] - SmallFunction(x.row(i), level), 2) / x.rows();
    }
    EXPECT_LT(std::sqrt(error), level == 2 ? 0.4 : 0.06) << level;
    EXPECT_TRUE(IsPositiveSemidefinite(model->JointMoments(x, {.level = level})->covariance, 1e-8));
  }
  EXPECT_EQ((*model->LeaveOneOutPredictions())[1].y.size(), kMostLeftOutOfStack);
  EXPECT_EQ(LoadNeighbourDgp(model->Save()).value()->Predict(x, {})->mean, model->Predict(x, {})->mean);
}

// The same promises in three dimensions, where level 0 has a low-rank part.
TEST(NeighbourDgpFitTest, WithALowRankPartAllAnswersAgree) {
  const Dataset data = StackData({300, 20}, 3);
  const auto model = Fit(data, {.seed = 2}, 12);
  const Matrix x = SmallQueries(8, 3);
  EXPECT_GT(StackCentres(data), 0);
  for (const int level : {0, 1}) {
    SCOPED_TRACE(level);
    const auto prediction = model->Predict(x, {.level = level, .input_gradient = true});
    const auto joint = model->JointMoments(x, {.level = level});
    ASSERT_TRUE(prediction.ok() && joint.ok());
    EXPECT_TRUE(RelativelyNear(joint->mean, prediction->mean, 1e-9));
    EXPECT_TRUE(RelativelyNear(joint->covariance.diagonal(), prediction->variance, 1e-8));
    EXPECT_TRUE(IsPositiveSemidefinite(joint->covariance, 1e-8));
    for (int d = 0; d < 3; ++d) {
      constexpr double kStep = 1e-6;
      Matrix up = x, down = x;
      up.col(d).array() += kStep;
      down.col(d).array() -= kStep;
      const Vector difference =
          (model->Predict(up, {.level = level})->mean - model->Predict(down, {.level = level})->mean) / (2 * kStep);
      EXPECT_TRUE(Near(prediction->input_gradient.col(d), difference, 2e-5));
    }
    const auto loaded = LoadNeighbourDgp(model->Save());
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ((*loaded)->Predict(x, {.level = level})->mean, prediction->mean);
    EXPECT_EQ((*loaded)->Predict(x, {.level = level})->variance, prediction->variance);
  }
}

TEST(NeighbourDgpFitTest, OneLevelIsANeighbourGaussianProcess) {
  const Dataset data = StackData({300}, 1);
  const auto model = Fit(data, {.seed = 1});
  const Matrix x = SmallQueries(50, 1);
  const auto prediction = model->Predict(x, {});
  for (Index i = 0; i < x.rows(); ++i) EXPECT_NEAR(prediction->mean[i], SmallFunction(x.row(i), 0), 0.08);
  EXPECT_GE((*model->LeaveOneOutPredictions())[0].inflation, 1);
}

TEST(NeighbourDgpFitTest, WithinATransformQuantilesStayBetweenTheBorders) {
  Dataset data = StackData({300, 20}, 1);
  for (LevelData& level : data.levels) level.y = (1 + (-3 * level.y.array()).exp()).inverse();
  data.levels[0].y[3] = 0;  // at the borders
  data.levels[1].y[2] = 1;
  auto transformed = TransformOutputs(data, {.kind = OutputTransform::Kind::kLogit});
  ASSERT_TRUE(transformed.ok()) << transformed.status();
  const TransformedEmulator model(transformed->transform, Fit(transformed->data, {.seed = 1}));
  const auto prediction = model.Predict(SmallQueries(60, 1), {.quantiles = {0.025, 0.5, 0.975}});
  ASSERT_TRUE(prediction.ok());
  EXPECT_TRUE(prediction->mean.allFinite());
  EXPECT_GT(prediction->quantiles.minCoeff(), 0);
  EXPECT_LT(prediction->quantiles.maxCoeff(), 1);
  // The mean is an average over the uncertainty, not the transform of a mean.
  EXPECT_GT((prediction->mean - prediction->quantiles.col(1)).cwiseAbs().maxCoeff(), 1e-6);
}

}  // namespace
}  // namespace fidelio
