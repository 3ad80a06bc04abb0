#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/dgp/moments/mf_dgp.h"
#include "gtest/gtest.h"
#include "tests/support/eigenvalues.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

std::unique_ptr<MixtureEmulator> FitJointOrDie(const Dataset& data) {
  auto model = FitMfDgp(data, {.seed = 1});
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

JointPosterior JointOrDie(const Emulator& model, const Matrix& x, const PredictOptions& options = {}) {
  auto joint = model.JointMoments(x, options);
  EXPECT_TRUE(joint.ok()) << joint.status();
  return *std::move(joint);
}

Matrix SampleOrDie(const Emulator& model, const Matrix& x, const SampleOptions& options) {
  auto paths = model.SamplePaths(x, options);
  EXPECT_TRUE(paths.ok()) << paths.status();
  return *std::move(paths);
}

// Three levels, the middle one with given noise; the highest has a surprise, so that its variances are widened.
Dataset SurprisingData() {
  Dataset data = SmallData({14, 8, 6}, 2);
  data.levels[1].noise_variance = Vector::LinSpaced(8, 1e-4, 1e-3);
  data.levels[2].y[3] += 2;
  return data;
}

// A low fidelity that tells nothing: structures which leave it out take part.
Dataset UnrelatedData() {
  Dataset data = SmallData({20, 9}, 1);
  for (int i = 0; i < 20; ++i) data.levels[0].y[i] = std::cos(19 * data.levels[0].x(i, 0) + 1);
  return data;
}

// The models that the tests only look at.
class MfDgpJointTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    model_ = FitJointOrDie(SurprisingData()).release();
    unrelated_ = FitJointOrDie(UnrelatedData()).release();
  }
  static void TearDownTestSuite() {
    delete model_;
    delete unrelated_;
  }
  static const MixtureEmulator *model_, *unrelated_;
};
const MixtureEmulator *MfDgpJointTest::model_ = nullptr, *MfDgpJointTest::unrelated_ = nullptr;

TEST_F(MfDgpJointTest, MeanAndDiagonalAreThoseOfPredict) {
  for (const MixtureEmulator* model : {model_, unrelated_}) {
    const Matrix x = SmallQueries(150, model->input_dimension());
    for (int level = 0; level < model->levels(); ++level) {
      for (const bool noise : {false, true}) {
        const PredictOptions options{.level = level, .include_noise = noise};
        const auto single = model->Predict(x, options);
        ASSERT_TRUE(single.ok());
        const JointPosterior joint = JointOrDie(*model, x, options);
        EXPECT_TRUE(joint.mean.isApprox(single->mean, 1e-12));
        EXPECT_TRUE(joint.covariance.diagonal().isApprox(single->variance, 1e-10));
      }
    }
  }
}

TEST_F(MfDgpJointTest, LevelsCanBeMixedInAnyOrder) {
  for (const MixtureEmulator* model : {model_, unrelated_}) {
    constexpr int kPoints = 24;
    const Matrix x = SmallQueries(kPoints, model->input_dimension());
    std::vector<int> levels(kPoints), reversed(kPoints);
    for (int i = 0; i < kPoints; ++i) levels[i] = (7 * i + i / 5) % model->levels();
    std::reverse_copy(levels.begin(), levels.end(), reversed.begin());
    for (const bool noise : {false, true}) {
      const auto joint = model->JointMomentsAt(x, levels, {.include_noise = noise, .threads = 2});
      ASSERT_TRUE(joint.ok()) << joint.status();
      EXPECT_TRUE(IsPositiveSemidefinite(joint->covariance, 1e-8));
      for (int level = 0; level < model->levels(); ++level) {
        std::vector<int> rows;
        for (int i = 0; i < kPoints; ++i) {
          if (levels[i] == level) rows.push_back(i);
        }
        const JointPosterior own = JointOrDie(*model, x(rows, Eigen::all), {.level = level, .include_noise = noise});
        EXPECT_TRUE(joint->mean(rows).isApprox(own.mean, 1e-10));
        EXPECT_TRUE(RelativelyNear(joint->covariance(rows, rows), own.covariance, 1e-9));
      }
      const auto other = model->JointMomentsAt(x.colwise().reverse(), reversed, {.include_noise = noise});
      ASSERT_TRUE(other.ok()) << other.status();
      EXPECT_TRUE(RelativelyNear(other->covariance.reverse(), joint->covariance, 1e-9));
    }
  }
}

TEST_F(MfDgpJointTest, ColumnsAloneAreThoseOfTheWholeCovariance) {
  for (const MixtureEmulator* model : {model_, unrelated_}) {
    constexpr int kPoints = 130;  // more than a tile
    const Matrix x = SmallQueries(kPoints, model->input_dimension());
    std::vector<int> levels(kPoints);
    for (int i = 0; i < kPoints; ++i) levels[i] = (7 * i + i / 5) % model->levels();
    const std::vector<int> columns = {129, 3, 4, 77, 20, 3};
    for (const bool noise : {false, true}) {
      const auto joint = model->JointMomentsAt(x, levels, {.include_noise = noise, .threads = 2});
      ASSERT_TRUE(joint.ok()) << joint.status();
      const auto some = model->JointColumnsAt(x, levels, columns, {.include_noise = noise, .threads = 2});
      ASSERT_TRUE(some.ok()) << some.status();
      // Where nearly everything is known, covariances are small differences of numbers that are 1e9 times as large.
      EXPECT_TRUE(RelativelyNear(*some, joint->covariance(Eigen::all, columns), 1e-5));
    }
  }
  EXPECT_TRUE(IsError(model_->JointColumnsAt(SmallQueries(2, 2), {0, 1}, {0, 2}, {}).status(),
                      absl::StatusCode::kInvalidArgument, {"columns[1]: 2, want 0 to 1"}));
}

TEST_F(MfDgpJointTest, LevelsThatFollowEachOtherAreCorrelated) {
  const Matrix x = SmallQueries(1, 2).replicate(3, 1);
  const auto joint = model_->JointMomentsAt(x, {0, 1, 2}, {});
  ASSERT_TRUE(joint.ok()) << joint.status();
  const Vector sd = joint->covariance.diagonal().cwiseSqrt();
  EXPECT_GT(joint->covariance(0, 1), 0.3 * sd[0] * sd[1]);
  // Draws that leave out a level which tells nothing see it as independent.
  const auto unrelated = unrelated_->JointMomentsAt(SmallQueries(1, 1).replicate(2, 1), {0, 1}, {});
  ASSERT_TRUE(unrelated.ok()) << unrelated.status();
  const Vector unrelated_sd = unrelated->covariance.diagonal().cwiseSqrt();
  EXPECT_LT(std::abs(unrelated->covariance(0, 1)), 0.3 * unrelated_sd[0] * unrelated_sd[1]);
}

TEST_F(MfDgpJointTest, EqualInputsHaveEqualValuesButIndependentNoise) {
  for (const MixtureEmulator* model : {model_, unrelated_}) {
    Matrix x = SmallQueries(8, model->input_dimension());
    x.bottomRows(4) = x.topRows(4);
    for (int level = 0; level < model->levels(); ++level) {
      const JointPosterior f = JointOrDie(*model, x, {.level = level});
      EXPECT_TRUE(RelativelyNear(f.covariance.topRightCorner(4, 4), f.covariance.topLeftCorner(4, 4), 1e-6));
      const JointPosterior y = JointOrDie(*model, x, {.level = level, .include_noise = true});
      Matrix noise = y.covariance - f.covariance;
      EXPECT_GT(noise.diagonal().minCoeff(), 0);
      noise.diagonal().setZero();
      EXPECT_TRUE(Near(noise, Matrix::Zero(8, 8), 1e-14));
    }
  }
}

TEST_F(MfDgpJointTest, CovariancesArePositiveSemidefinite) {
  for (const MixtureEmulator* model : {model_, unrelated_}) {
    const Matrix x = SmallQueries(60, model->input_dimension());
    for (int level = 0; level < model->levels(); ++level) {
      const Vector& y = model->data().levels[level].y;
      const double spread = (y.array() - y.mean()).square().mean();
      EXPECT_TRUE(IsPositiveSemidefinite(JointOrDie(*model, x, {.level = level}).covariance, 1e-10, spread));
    }
  }
}

TEST_F(MfDgpJointTest, SamplesHaveTheMomentsOfTheMixture) {
  constexpr int kCount = 20000, kPoints = 7;
  for (const MixtureEmulator* model : {model_, unrelated_}) {
    const Matrix x = SmallQueries(kPoints, model->input_dimension());
    for (int level = 0; level < model->levels(); ++level) {
      for (const bool noise : {false, true}) {
        SCOPED_TRACE(testing::Message() << "level " << level << ", noise " << noise);
        const JointPosterior joint = JointOrDie(*model, x, {.level = level, .include_noise = noise});
        Matrix paths =
            SampleOrDie(*model, x, {.level = level, .count = kCount, .seed = 5, .include_noise = noise, .threads = 0});
        ASSERT_EQ(paths.rows(), kCount);
        paths.rowwise() -= joint.mean.transpose();
        for (int i = 0; i < kPoints; ++i) {
          EXPECT_NEAR(paths.col(i).mean(), 0, 4.5 * std::sqrt(joint.covariance(i, i) / kCount)) << i;
          for (int j = 0; j <= i; ++j) {
            const Vector products = paths.col(i).cwiseProduct(paths.col(j));
            const double error = std::sqrt((products.array() - products.mean()).square().mean() / kCount);
            EXPECT_NEAR(products.mean(), joint.covariance(i, j), 4.5 * error) << i << "," << j;
          }
        }
      }
    }
  }
}

TEST_F(MfDgpJointTest, SamplesHaveTheQuantilesOfTheMixture) {
  constexpr int kCount = 20000;
  const Matrix x = SmallQueries(4, 2);
  const std::vector<double> probabilities = {0.01, 0.2, 0.5, 0.9, 0.99};
  for (int level = 0; level < 3; ++level) {
    const auto expected = model_->Predict(x, {.level = level, .quantiles = probabilities});
    ASSERT_TRUE(expected.ok());
    const Matrix paths = SampleOrDie(*model_, x, {.level = level, .count = kCount, .seed = 6});
    for (Index i = 0; i < x.rows(); ++i) {
      for (size_t k = 0; k < probabilities.size(); ++k) {
        const double p = probabilities[k], quantile = expected->quantiles(i, static_cast<Index>(k));
        const double below = static_cast<double>((paths.col(i).array() < quantile).count()) / kCount;
        EXPECT_NEAR(below, p, 4.5 * std::sqrt(p * (1 - p) / kCount)) << "level " << level << ", point " << i;
      }
    }
  }
}

TEST_F(MfDgpJointTest, ResultsDoNotDependOnThreads) {
  const Matrix x = SmallQueries(70, 2);
  const JointPosterior one = JointOrDie(*model_, x, {.threads = 1});
  const Matrix paths = SampleOrDie(*model_, x, {.count = 100, .seed = 3, .threads = 1});
  for (const int threads : {3, 5}) {
    const JointPosterior many = JointOrDie(*model_, x, {.threads = threads});
    EXPECT_EQ(one.mean, many.mean);
    EXPECT_EQ(one.covariance, many.covariance);
    EXPECT_EQ(paths, SampleOrDie(*model_, x, {.count = 100, .seed = 3, .threads = threads}));
  }
}

TEST_F(MfDgpJointTest, ObservedInputsCanBeSampled) {
  const Dataset data = SmallData({14, 8, 5}, 2);
  const auto exact = FitJointOrDie(data);
  for (int level = 0; level < 3; ++level) {
    const LevelData& observed = data.levels[level];
    const Matrix paths = SampleOrDie(*exact, observed.x, {.level = level, .count = 50});
    EXPECT_TRUE(Near(paths, observed.y.transpose().replicate(50, 1), 0.1));
  }
}

TEST_F(MfDgpJointTest, WorkEndsWhenItsCheckSaysSo) {
  const Matrix x = SmallQueries(4, 2);
  int asked = 0;
  const auto third = [&asked] { return ++asked < 3 ? absl::OkStatus() : absl::CancelledError("nobody waits"); };
  EXPECT_TRUE(IsError(model_->JointMoments(x, {.check = third}).status(), absl::StatusCode::kCancelled, {"nobody"}));
  EXPECT_EQ(asked, 3);
  asked = 0;
  const SampleOptions options{.count = 200, .check = third};
  EXPECT_TRUE(IsError(model_->SamplePaths(x, options).status(), absl::StatusCode::kCancelled, {"nobody"}));
  EXPECT_GE(asked, 3);
}

}  // namespace
}  // namespace fidelio
