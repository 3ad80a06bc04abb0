// What every emulator promises (core/emulator/emulator.h), whichever method fitted it; of many inputs at once:
// emulator_joint_contract_test.cc.
#include "tests/support/emulator_contract.h"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/emulator/inflation.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

constexpr int kLevels = kContractLevels;

TEST_P(EmulatorContractTest, KnowsItsSizeAndItsData) {
  EXPECT_EQ(Model().levels(), kLevels);
  EXPECT_EQ(Model().input_dimension(), 2);
  EXPECT_EQ(Model().data().levels[1].y, Data().levels[1].y);
  EXPECT_GT(Model().report().evaluations, 0);
  EXPECT_GT(Model().MemoryBytes(), 27 * 3 * 8);
}

TEST_P(EmulatorContractTest, DefaultLevelIsTheHighest) {
  const Matrix x = SmallQueries(5, 2);
  EXPECT_EQ(PredictOrDie(Model(), x).mean, PredictOrDie(Model(), x, {.level = 2}).mean);
}

TEST_P(EmulatorContractTest, NoiseOnlyAddsVariance) {
  const Matrix x = SmallQueries(20, 2);
  for (int level = 0; level < kLevels; ++level) {
    const Prediction f = PredictOrDie(Model(), x, {.level = level});
    const Prediction y = PredictOrDie(Model(), x, {.level = level, .include_noise = true});
    EXPECT_TRUE(f.mean.isApprox(y.mean, 1e-12));
    EXPECT_GT((y.variance - f.variance).minCoeff(), 0);
    EXPECT_GT(f.variance.minCoeff(), 0);
  }
}

TEST_P(EmulatorContractTest, PredictSummarisesTheMixture) {
  const Matrix x = SmallQueries(70, 2);
  for (int level = 0; level < kLevels; ++level) {
    const Prediction p = PredictOrDie(Model(), x, {.level = level});
    const auto mixture = Model().PredictMixture(x, {.level = level});
    ASSERT_TRUE(mixture.ok()) << mixture.status();
    EXPECT_NEAR(mixture->weight.sum(), 1, 1e-12);
    EXPECT_TRUE(Near(MixtureMean(*mixture), p.mean, 1e-12));
    EXPECT_TRUE(Near(MixtureVariance(*mixture, p.mean), p.variance, 1e-12));
  }
}

TEST_P(EmulatorContractTest, QuantilesAreOrderedAndInvertTheDensity) {
  const Matrix x = SmallQueries(2, 2);
  const Prediction p = PredictOrDie(Model(), x, {.quantiles = {0.025, 0.5, 0.975}});
  for (int i = 0; i < x.rows(); ++i) {
    EXPECT_LT(p.quantiles(i, 0), p.quantiles(i, 1));
    EXPECT_LT(p.quantiles(i, 1), p.quantiles(i, 2));
    constexpr int kSteps = 4000;
    const double a = p.quantiles(i, 0), step = (p.quantiles(i, 2) - a) / kSteps;
    const Vector y = Vector::LinSpaced(kSteps + 1, a, p.quantiles(i, 2));
    const auto density = Model().LogDensity(x.row(i).replicate(kSteps + 1, 1), y, {});
    ASSERT_TRUE(density.ok());
    const Vector values = density->array().exp();
    EXPECT_NEAR(step * (values.sum() - 0.5 * (values[0] + values[kSteps])), 0.95, 1e-3);
  }
}

TEST_P(EmulatorContractTest, MediansAreQuantiles) {
  const Matrix x = SmallQueries(70, 2);
  for (int level = 0; level < kLevels; ++level) {
    const Prediction p = PredictOrDie(Model(), x, {.level = level, .quantiles = {0.5}});
    ASSERT_EQ(p.median.size(), 70);
    ASSERT_EQ(p.mean_cdf.size(), 70);
    EXPECT_TRUE(Near(p.median, p.quantiles.col(0), 1e-8));
    const auto mixture = Model().PredictMixture(x, {.level = level});
    EXPECT_TRUE(Near(p.mean_cdf, MixtureCdf(*mixture, p.mean), 1e-9));
  }
}

TEST_P(EmulatorContractTest, InputGradientAgreesWithDifferences) {
  const Matrix x = SmallQueries(4, 2);
  constexpr double kStep = 1e-5;
  for (int level = 0; level < kLevels; ++level) {
    const Prediction p = PredictOrDie(Model(), x, {.level = level, .input_gradient = true});
    for (int d = 0; d < 2; ++d) {
      Matrix up = x, down = x;
      up.col(d).array() += kStep;
      down.col(d).array() -= kStep;
      const Vector difference =
          (PredictOrDie(Model(), up, {.level = level}).mean - PredictOrDie(Model(), down, {.level = level}).mean) /
          (2 * kStep);
      EXPECT_TRUE(Near(p.input_gradient.col(d), difference, 1e-6)) << "level " << level << " dimension " << d;
    }
  }
}

TEST_P(EmulatorContractTest, MixtureGradientAgreesWithDifferences) {
  const Matrix x = SmallQueries(4, 2);
  constexpr double kStep = 1e-5;
  for (int level = 0; level < kLevels; ++level) {
    const PredictOptions options{.level = level};
    const Mixture mixture = *Model().PredictMixture(x, options);
    Random random(4, 0);
    Matrix mean_bar = mixture.mean, variance_bar = mixture.mean;
    for (double& v : mean_bar.reshaped()) v = random.Normal();
    for (double& v : variance_bar.reshaped()) v = random.Normal();
    const auto gradient = Model().MixtureGradient(x, mean_bar, variance_bar, options);
    ASSERT_TRUE(gradient.ok()) << gradient.status();
    const auto value = [&](const Matrix& at) -> Vector {
      const Mixture m = *Model().PredictMixture(at, options);
      return (mean_bar.cwiseProduct(m.mean) + variance_bar.cwiseProduct(m.variance)).colwise().sum();
    };
    for (int d = 0; d < 2; ++d) {
      Matrix up = x, down = x;
      up.col(d).array() += kStep;
      down.col(d).array() -= kStep;
      const Vector difference = (value(up) - value(down)) / (2 * kStep);
      EXPECT_TRUE(Near(gradient->col(d), difference, 1e-5)) << "level " << level << " dimension " << d;
    }
    EXPECT_FALSE(Model().MixtureGradient(x, mean_bar.leftCols(3), variance_bar, options).ok());
  }
}

TEST_P(EmulatorContractTest, PredictionsDoNotDependOnThreads) {
  const Matrix x = SmallQueries(300, 2);
  const Prediction one = PredictOrDie(Model(), x, {.quantiles = {0.1}, .threads = 1});
  const Prediction four = PredictOrDie(Model(), x, {.quantiles = {0.1}, .threads = 4});
  EXPECT_EQ(one.mean, four.mean);
  EXPECT_EQ(one.variance, four.variance);
  EXPECT_EQ(one.quantiles, four.quantiles);
  EXPECT_EQ(one.median, four.median);
}

TEST_P(EmulatorContractTest, LoadedModelPredictsTheSameBits) {
  const std::string bytes = Model().Save();
  const auto loaded = LoadEmulator(bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Matrix x = SmallQueries(50, 2);
  for (int level = 0; level < kLevels; ++level) {
    const PredictOptions options{.level = level, .include_noise = true, .quantiles = {0.3}};
    const Prediction before = PredictOrDie(Model(), x, options), after = PredictOrDie(**loaded, x, options);
    EXPECT_EQ(before.mean, after.mean);
    EXPECT_EQ(before.variance, after.variance);
    EXPECT_EQ(before.quantiles, after.quantiles);
  }
  EXPECT_EQ((*loaded)->Save(), bytes);
  EXPECT_EQ(FittedModel(**loaded).report().evaluations, Model().report().evaluations);
}

TEST_P(EmulatorContractTest, EveryDamagedCheckpointIsAnError) {
  const std::string bytes = Model().Save();
  for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 50) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    EXPECT_FALSE(LoadEmulator(flipped).ok()) << "bit " << at % 8 << " of byte " << at;
    EXPECT_FALSE(LoadEmulator(bytes.substr(0, at)).ok()) << "cut at " << at;
  }
  EXPECT_TRUE(
      IsError(GetParam().load("a,b\n1,2\n").status(), absl::StatusCode::kDataLoss, {"not a Fidelio checkpoint"}));
}

TEST_P(EmulatorContractTest, LeavesOutEveryObservationOfEveryLevel) {
  const auto left_out = Model().LeaveOneOutPredictions();
  const auto mixtures = Model().LeaveOneOutMixtures();
  ASSERT_TRUE(left_out.ok() && mixtures.ok()) << left_out.status();
  ASSERT_EQ(left_out->size(), kLevels);
  for (int level = 0; level < kLevels; ++level) {
    const LeaveOneOut& at = (*left_out)[level];
    EXPECT_EQ(at.y, Data().levels[level].y);
    EXPECT_GT(at.variance.minCoeff(), 0);
    EXPECT_TRUE(at.log_density.allFinite());
    ASSERT_EQ(at.median.size(), at.y.size());
    EXPECT_LE((at.median - at.mean).cwiseAbs2().cwiseQuotient(at.variance).maxCoeff(), 1);
    EXPECT_GE(at.cdf.minCoeff(), 0);
    EXPECT_LE(at.cdf.maxCoeff(), 1);
    EXPECT_GE(at.inflation, 1);
    EXPECT_TRUE(Near((*mixtures)[level].weight.colwise().sum(), Matrix::Ones(1, at.y.size()), 1e-12));
    // Harder than predicting what was seen.
    const Prediction seen = PredictOrDie(Model(), Data().levels[level].x, {.level = level});
    EXPECT_GT((at.mean - at.y).norm(), (seen.mean - at.y).norm()) << "level " << level;
  }
}

// One observation of the highest level is not what the others promise, and noise is given there: a model can only be wrong
// about it.
class SurprisedEmulatorTest : public ::testing::TestWithParam<EmulatorMethod> {
 protected:
  // Fitted once per method.
  static const MixtureEmulator& Model() {
    static auto* const models = new std::map<std::string, std::unique_ptr<MixtureEmulator>>;
    std::unique_ptr<MixtureEmulator>& model = (*models)[GetParam().name];
    if (model == nullptr) model = FitOrDie(GetParam(), Data());
    return *model;
  }
  static Dataset Data() {
    Dataset data = SmallData({14, 8}, 2);
    data.levels[1].y[2] += 6;
    data.levels[1].noise_variance = Vector::LinSpaced(8, 0.01, 0.03);
    return data;
  }
  static double GivenNoise() { return Data().levels[1].noise_variance.mean(); }
};

TEST_P(SurprisedEmulatorTest, InflationIsThatOfTheLeaveOneOutPredictions) {
  const auto left_out = Model().LeaveOneOutPredictions();
  ASSERT_TRUE(left_out.ok()) << left_out.status();
  EXPECT_GT(left_out->back().inflation, 1.05);
  EXPECT_NEAR(left_out->back().inflation, InflationOf(left_out->back()).factor, 1e-9 * left_out->back().inflation);
  EXPECT_EQ(left_out->front().inflation, 1);
}

TEST_P(SurprisedEmulatorTest, GivenNoiseIsNotInflated) {
  const Matrix x = SmallQueries(5, 2);
  const Prediction f = PredictOrDie(Model(), x), y = PredictOrDie(Model(), x, {.include_noise = true});
  EXPECT_TRUE(Near(y.variance - f.variance, Vector::Constant(5, GivenNoise()), 1e-3 * GivenNoise()));
}

TEST_P(SurprisedEmulatorTest, GivenNoiseIsNotInflatedInJointMoments) {
  const Matrix x = SmallQueries(5, 2);
  const auto f = Model().JointMoments(x, {}), y = Model().JointMoments(x, {.include_noise = true});
  ASSERT_TRUE(f.ok() && y.ok()) << f.status() << y.status();
  const Matrix noise = GivenNoise() * Matrix::Identity(5, 5);
  EXPECT_TRUE(Near(y->covariance - f->covariance, noise, 1e-3 * GivenNoise()));
}

TEST_P(SurprisedEmulatorTest, GivenNoiseIsNotInflatedAfterLoadingAndConditioning) {
  const Matrix x = SmallQueries(5, 2);
  const auto loaded = LoadEmulator(Model().Save());
  const auto conditioned = Model().Condition(Data(), 1);
  ASSERT_TRUE(loaded.ok() && conditioned.ok()) << loaded.status() << conditioned.status();
  for (const Emulator* model : {loaded->get(), conditioned->get()}) {
    EXPECT_GT(model->LeaveOneOutPredictions()->back().inflation, 1.05);
    const Prediction f = PredictOrDie(*model, x), y = PredictOrDie(*model, x, {.include_noise = true});
    EXPECT_TRUE(Near(y.variance - f.variance, Vector::Constant(5, GivenNoise()), 1e-3 * GivenNoise()));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SurprisedEmulatorTest,
                         ::testing::ValuesIn(EmulatorMethods().begin(), EmulatorMethods().end()), MethodName);

// A table that was loaded twice: leave-one-out must not predict each row from its copy.
TEST_P(EmulatorContractTest, CopiesAreLeftOutTogether) {
  const Dataset once = SmallData({14, 8}, 2);
  Dataset twice = once;
  for (LevelData& level : twice.levels) {
    level.x = level.x.replicate(2, 1).eval();
    level.y = level.y.replicate(2, 1).eval();
  }
  const auto of_once = FitOrDie(GetParam(), once)->LeaveOneOutPredictions();
  const auto of_twice = FitOrDie(GetParam(), twice)->LeaveOneOutPredictions();
  ASSERT_TRUE(of_once.ok() && of_twice.ok());
  for (const int level : {0, 1}) {
    const LeaveOneOut &a = (*of_once)[level], &b = (*of_twice)[level];
    const auto n = static_cast<int>(a.y.size());
    ASSERT_EQ(b.group.size(), static_cast<size_t>(2 * n));
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(b.group[i], i);
      EXPECT_EQ(b.group[n + i], i);
      EXPECT_NEAR(b.mean[i], b.mean[n + i], 1e-6 * std::sqrt(b.variance[i]));
    }
    const double error = (a.y - a.mean).norm() / std::sqrt(n), doubled = (b.y - b.mean).norm() / std::sqrt(2 * n);
    EXPECT_GT(doubled, 0.1 * error) << "level " << level;  // the fits differ; from their copies: 1e-3 and less
  }
}

// With fixed hyperparameters: what is left out is what a model that never saw the input says.
TEST_P(EmulatorContractTest, AGroupThatIsTheWholeLevelIsPredictedFromBelow) {
  Dataset data = SmallData({14, 3}, 2);
  data.levels[1].x.rowwise() = data.levels[1].x.row(0).eval();
  data.levels[1].y << 1.3, 1.3, 1.31;
  const auto left_out = FitOrDie(GetParam(), data)->LeaveOneOutPredictions();
  ASSERT_TRUE(left_out.ok());
  const LeaveOneOut& top = (*left_out)[1];
  EXPECT_EQ(top.group, (std::vector<int>{0, 0, 0}));
  EXPECT_TRUE(top.mean.allFinite() && top.variance.allFinite() && top.cdf.allFinite() && top.log_density.allFinite());
  EXPECT_GT(top.variance.minCoeff(), 0);
  EXPECT_GT(std::sqrt(top.variance[0]), 0.02);  // much more than the copies differ by
}

TEST_P(EmulatorContractTest, ConditioningOnTheSameDataChangesNothing) {
  const auto same = Model().Condition(Data(), 1);
  ASSERT_TRUE(same.ok()) << same.status();
  const Matrix x = SmallQueries(10, 2);
  for (int level = 0; level < kLevels; ++level) {
    const Prediction before = PredictOrDie(Model(), x, {.level = level});
    const Prediction after = PredictOrDie(**same, x, {.level = level});
    EXPECT_TRUE(Near(after.mean, before.mean, 1e-9));
    EXPECT_TRUE(Near(after.variance, before.variance, 1e-9));
  }
}

TEST_P(EmulatorContractTest, ConditioningTakesNewObservationsIntoAccount) {
  Dataset more = Data();
  LevelData& top = more.levels.back();
  const Matrix x = SmallQueries(3, 2, 7);
  Vector before = PredictOrDie(Model(), x).variance;
  top.x.conservativeResize(8, 2);
  top.y.conservativeResize(8);
  top.x.bottomRows(3) = x;
  for (int i = 0; i < 3; ++i) top.y[5 + i] = SmallFunction(x.row(i), 2);
  const auto conditioned = Model().Condition(more, 1);
  ASSERT_TRUE(conditioned.ok()) << conditioned.status();
  const Prediction after = PredictOrDie(**conditioned, x);
  EXPECT_LT((after.mean - top.y.tail(3)).norm(), (PredictOrDie(Model(), x).mean - top.y.tail(3)).norm());
  EXPECT_LT(after.variance.sum(), before.sum());
  EXPECT_EQ((*conditioned)->Save(), (*LoadEmulator((*conditioned)->Save()))->Save());

  EXPECT_TRUE(IsError(Model().Condition(SmallData({5, 5}, 2), 1).status(), absl::StatusCode::kInvalidArgument,
                      {"data: 2 levels", "but the model has 3 levels"}));
  more.levels[0].noise_variance = Vector::Ones(14);
  EXPECT_TRUE(IsError(Model().Condition(more, 1).status(), absl::StatusCode::kFailedPrecondition,
                      {"level 0", "learned", "fit again"}));
}

TEST_P(EmulatorContractTest, BadQueriesNameFieldValueAndRule) {
  const Matrix x = SmallQueries(2, 2);
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(Model().Predict(SmallQueries(2, 3), {}).status(), invalid,
                      {"x: 3 columns, but the model has input dimension 2"}));
  EXPECT_TRUE(IsError(Model().Predict(x, {.level = 3}).status(), invalid, {"level: 3, want 0 to 2"}));
  EXPECT_TRUE(IsError(Model().Predict(x, {.quantiles = {0.5, 1.0}}).status(), invalid, {"quantiles[1]: 1"}));
  EXPECT_TRUE(IsError(Model().JointMomentsAt(x, {0}, {}).status(), invalid, {"levels: 1 values for 2 rows"}));
  EXPECT_TRUE(IsError(Model().JointMomentsAt(x, {0, 5}, {}).status(), invalid, {"levels[1]: 5, want 0 to 2"}));
  Matrix bad = x;
  bad(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(IsError(Model().Predict(bad, {}).status(), invalid, {"x[1,0]: nan"}));
  EXPECT_FALSE(Model().LogDensity(x, Vector::Zero(3), {}).ok());
}

TEST_P(EmulatorContractTest, EmptyUpperLevelsAndSingleObservationsFit) {
  for (const std::vector<int>& sizes : {std::vector<int>{10, 0, 4}, {10, 5, 0}, {10, 1}, {1, 1}, {8}}) {
    const auto model = FitOrDie(GetParam(), SmallData(sizes, 1));
    for (int level = 0; level < model->levels(); ++level) {
      const Prediction p = PredictOrDie(*model, SmallQueries(5, 1), {.level = level});
      EXPECT_TRUE(p.mean.allFinite() && p.variance.allFinite());
      EXPECT_TRUE(FunctionsOrDie(*model, SmallQueries(5, 1), {.level = level, .count = 3}).allFinite());
    }
    EXPECT_TRUE(model->LeaveOneOutPredictions().ok());
  }
  EXPECT_EQ(GetParam().create(SmallData({0, 5}, 1), {}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(EmulatorContractTest, DegenerateDataStaysFinite) {
  Dataset constant = SmallData({8, 4}, 2);
  for (LevelData& level : constant.levels) level.y.setConstant(7);
  Dataset repeated = SmallData({8, 4}, 2);
  for (LevelData& level : repeated.levels) level.x.rowwise() = level.x.row(0).eval();
  for (const Dataset& data : {constant, repeated}) {
    const Prediction p = PredictOrDie(*FitOrDie(GetParam(), data), SmallQueries(5, 2), {.quantiles = {0.05, 0.95}});
    EXPECT_TRUE(p.mean.allFinite() && p.variance.allFinite() && p.quantiles.allFinite());
  }
  EXPECT_NEAR(PredictOrDie(*FitOrDie(GetParam(), constant), SmallQueries(1, 2)).mean[0], 7, 0.1);
}

TEST_P(EmulatorContractTest, ModelsOfOtherMethodsAreNoWarmStart) {
  for (const EmulatorMethod& other : EmulatorMethods()) {
    if (other.checkpoint_kind == GetParam().checkpoint_kind) continue;
    const auto model = FitOrDie(other, SmallData({6, 4}, 1));
    EXPECT_TRUE(IsError(GetParam().create(SmallData({6, 4}, 1), {.warm_start = model.get()}).status(),
                        absl::StatusCode::kInvalidArgument, {"warm_start: a model that another method fitted"}));
    break;  // one is enough
  }
}

INSTANTIATE_TEST_SUITE_P(All, EmulatorContractTest,
                         ::testing::ValuesIn(EmulatorMethods().begin(), EmulatorMethods().end()), MethodName);

}  // namespace
}  // namespace fidelio
