#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/dgp/moments/mf_dgp.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

// `data` with n more observations of a level.
Dataset WithMore(Dataset data, int level, int n, uint64_t seed = 77) {
  const int dimension = data.dimension();
  LevelData& at = data.levels[level];
  const Index before = at.y.size();
  at.x.conservativeResize(before + n, dimension);
  at.y.conservativeResize(before + n);
  at.x.bottomRows(n) = SmallQueries(n, dimension, seed);
  for (Index i = before; i < before + n; ++i) at.y[i] = SmallFunction(at.x.row(i), level);
  if (at.noise_variance.size() > 0) {
    at.noise_variance.conservativeResize(before + n);
    at.noise_variance.tail(n).setConstant(at.noise_variance[0]);
  }
  return data;
}

double Rmse(const Emulator& model, const Matrix& x, int level) {
  const auto prediction = model.Predict(x, {.level = level});
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  double sum = 0;
  for (Index i = 0; i < x.rows(); ++i) sum += std::pow(prediction->mean[i] - SmallFunction(x.row(i), level), 2);
  return std::sqrt(sum / static_cast<double>(x.rows()));
}

// Few observations, so that more of them matter.
class MfDgpConditionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    data_ = new Dataset(SmallData({9, 6, 4}, 2));
    data_->levels[1].noise_variance = Vector::Constant(6, 1e-6);
    model_ = FitMfDgp(*data_, {.seed = 1})->release();
  }
  static void TearDownTestSuite() {
    delete model_;
    delete data_;
  }

  static std::unique_ptr<Emulator> Conditioned(const Dataset& data) {
    auto model = model_->Condition(data, 0);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }

  static Dataset* data_;
  static MixtureEmulator* model_;
};

Dataset* MfDgpConditionTest::data_ = nullptr;
MixtureEmulator* MfDgpConditionTest::model_ = nullptr;

TEST_F(MfDgpConditionTest, TheSameDataGiveTheSameModel) {
  const auto same = Conditioned(*data_);
  const Matrix x = SmallQueries(20, 2);
  for (int level = 0; level < 3; ++level) {
    const auto expected = model_->Predict(x, {.level = level}), actual = same->Predict(x, {.level = level});
    ASSERT_TRUE(expected.ok() && actual.ok());
    EXPECT_TRUE(Near(actual->mean, expected->mean, 1e-12));
    EXPECT_TRUE(Near(actual->variance, expected->variance, 1e-12));
  }
}

TEST_F(MfDgpConditionTest, NewObservationsAreInterpolated) {
  for (int level = 0; level < 3; ++level) {
    const Dataset more = WithMore(*data_, level, 6);
    const Matrix x = more.levels[level].x.bottomRows(6);
    EXPECT_LT(Rmse(*Conditioned(more), x, level), 0.3 * Rmse(*model_, x, level)) << level;
  }
}

TEST_F(MfDgpConditionTest, EveryLevelLearnsFromAnyOther) {
  const Matrix x = SmallQueries(200, 2);
  for (int level = 0; level < 3; ++level) {
    const auto conditioned = Conditioned(WithMore(*data_, level, 12));
    for (int at = 0; at < 3; ++at) EXPECT_LT(Rmse(*conditioned, x, at), Rmse(*model_, x, at)) << level << ", " << at;
  }
}

TEST_F(MfDgpConditionTest, IsNearlyAsGoodAsAnotherFit) {
  const Dataset more = WithMore(*data_, 2, 6);
  const auto refit = FitMfDgp(more, {.seed = 1});
  ASSERT_TRUE(refit.ok()) << refit.status();
  const Matrix x = SmallQueries(200, 2);
  EXPECT_LT(Rmse(*Conditioned(more), x, 2), 2 * Rmse(**refit, x, 2));
}

TEST_F(MfDgpConditionTest, OneStepOrTwoGiveTheSamePredictionsUpToTheWeights) {
  const Dataset once = WithMore(*data_, 2, 1, 5), twice = WithMore(once, 0, 1, 6);
  const auto steps = Conditioned(once)->Condition(twice, 0);
  ASSERT_TRUE(steps.ok()) << steps.status();
  const Matrix x = SmallQueries(20, 2);
  const auto expected = Conditioned(twice)->Predict(x, {}), actual = (*steps)->Predict(x, {});
  ASSERT_TRUE(expected.ok() && actual.ok());
  EXPECT_TRUE(Near(actual->mean, expected->mean, 0.05));
}

TEST_F(MfDgpConditionTest, LoadedModelPredictsTheSameBits) {
  Dataset more = WithMore(*data_, 2, 3);
  more.levels[0].x *= 1.5;  // the range of the inputs and of the outputs stays that of the fit
  more.levels[0].y *= 3;
  const auto conditioned = Conditioned(more);
  const auto loaded = LoadMfDgp(conditioned->Save());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Matrix x = SmallQueries(20, 2);
  for (int level = 0; level < 3; ++level) {
    const auto expected = conditioned->Predict(x, {.level = level}), actual = (*loaded)->Predict(x, {.level = level});
    ASSERT_TRUE(expected.ok() && actual.ok());
    EXPECT_EQ(actual->mean, expected->mean);
    EXPECT_EQ(actual->variance, expected->variance);
  }
  EXPECT_EQ((*loaded)->Save(), conditioned->Save());
}

TEST_F(MfDgpConditionTest, ResultsDoNotDependOnThreads) {
  const Dataset more = WithMore(*data_, 1, 2);
  const auto one = model_->Condition(more, 1), three = model_->Condition(more, 3);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ((*one)->Save(), (*three)->Save());
}

TEST_F(MfDgpConditionTest, AFitCanStartFromAConditionedModel) {
  const Dataset more = WithMore(*data_, 2, 3);
  const auto conditioned = Conditioned(more);
  const auto refit = FitMfDgp(more, {.seed = 1, .warm_start = dynamic_cast<const MixtureEmulator*>(conditioned.get())});
  ASSERT_TRUE(refit.ok()) << refit.status();
  EXPECT_LT(Rmse(**refit, SmallQueries(200, 2), 2), Rmse(*model_, SmallQueries(200, 2), 2));
}

// Structures of the highest level alone have the same units as the others: a draw's weight changes by the density that it gives the
// new observation.
TEST(MfDgpConditionWeightsTest, WeightsChangeByTheDensityOfNewDataWhateverTheSpreadOfTheLevels) {
  for (const double spread : {1.0, 30.0, 1.0 / 30}) {
    Dataset data = SmallData({14, 12}, 1);
    data.levels[0].y *= spread;
    data.levels[1].noise_variance =
        Vector::Constant(12, 0.05);  // no draw excludes the new observation: none is kept by force
    const auto model = FitMfDgp(data, {.seed = 1});
    ASSERT_TRUE(model.ok());
    const Matrix x = SmallQueries(1, 1, 5);
    const PredictOptions options{.include_noise = true};
    const auto before = (*model)->PredictMixture(x, options);
    ASSERT_TRUE(before.ok());
    ASSERT_EQ((*model)->LeaveOneOutPredictions()->back().inflation, 1);
    const double y = MixtureMean(*before)[0];
    const Eigen::ArrayXd variance = before->variance.col(0).array();
    const Vector density = (-0.5 * (y - before->mean.col(0).array()).square() / variance).exp() / variance.sqrt();
    Dataset more = data;
    more.levels[1].x.conservativeResize(13, 1);
    more.levels[1].y.conservativeResize(13);
    more.levels[1].x(12, 0) = x(0, 0);
    more.levels[1].y[12] = y;
    more.levels[1].noise_variance = Vector::Constant(13, 0.05);
    const auto after = (*model)->Condition(more, 1);
    ASSERT_TRUE(after.ok());
    const auto mixture = static_cast<const MixtureEmulator&>(**after).PredictMixture(x, options);
    const Vector expected = before->weight.cwiseProduct(density) / before->weight.dot(density);
    EXPECT_TRUE(Near(mixture->weight, expected, 1e-6)) << spread;
  }
}

TEST_F(MfDgpConditionTest, WhatNeedsAnotherFitIsRefused) {
  constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;
  Dataset learned = *data_;
  learned.levels[1].noise_variance.resize(0);
  EXPECT_TRUE(IsError(model_->Condition(learned, 0).status(), kFailed,
                      {"level 1: its noise variance was given by the fit and is to be learned now; fit again"}));
  Dataset given = *data_;
  given.levels[2].noise_variance = Vector::Ones(4);
  EXPECT_TRUE(IsError(model_->Condition(given, 0).status(), kFailed, {"level 2", "learned", "given now"}));
  EXPECT_TRUE(IsError(model_->Condition(SmallData({5, 4}, 2), 0).status(), absl::StatusCode::kInvalidArgument,
                      {"data: 2 levels", "the model has 3 levels"}));
  Dataset bad = *data_;
  bad.levels[0].y[2] = NAN;
  EXPECT_TRUE(IsError(model_->Condition(bad, 0).status(), absl::StatusCode::kInvalidArgument, {"nan"}));
}

}  // namespace
}  // namespace fidelio
