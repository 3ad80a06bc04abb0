#include <cmath>
#include <memory>
#include <string>

#include "core/base/random.h"
#include "core/baseline/baseline_fit.h"
#include "core/baseline/baseline_posterior.h"
#include "core/emulator/inflation.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

class BaselineEmulatorTest : public ::testing::TestWithParam<BaselineMethod> {
 protected:
  std::unique_ptr<MixtureEmulator> Fit(const Dataset& data, const FitOptions& options = {}) {
    auto model = (*BaselineFit::Create(GetParam(), data, options))->Run();
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
};

double Error(const Emulator& model, int level) {
  const Matrix x = SmallQueries(200, model.input_dimension());
  const Prediction p = *model.Predict(x, {.level = level});
  double squares = 0, spread = 0;
  for (int i = 0; i < x.rows(); ++i) {
    squares += std::pow(p.mean[i] - SmallFunction(x.row(i), level), 2);
    spread += std::pow(SmallFunction(x.row(i), level), 2);
  }
  return std::sqrt(squares / spread);
}

TEST_P(BaselineEmulatorTest, PredictsEveryLevelNearTheTruth) {
  const auto model = Fit(SmallData({14, 8, 5}, 2));
  EXPECT_EQ(model->checkpoint_kind(), CheckpointKindOf(GetParam()));
  for (int level = 0; level < 3; ++level) EXPECT_LT(Error(*model, level), 0.2) << level;
}

TEST_P(BaselineEmulatorTest, EveryKernelAndTheBestOfThemFit) {
  const Dataset data = SmallData({14, 8}, 1);
  std::vector<std::optional<KernelFamily>> kernels(std::begin(kAllKernelFamilies), std::end(kAllKernelFamilies));
  double best = -1e300;
  for (const auto& kernel : kernels) {
    const auto model = Fit(data, {.kernel = kernel});
    EXPECT_LT(Error(*model, 1), 0.4);
    best = std::max(best, model->report().log_posterior);
  }
  // Searches end near a mode, not at it: among many starts, one that was screened goes on in other steps.
  EXPECT_GE(Fit(data, {.kernel = std::nullopt})->report().log_posterior, best - 0.01);
}

TEST_P(BaselineEmulatorTest, UnitsDoNotMatter) {
  const Dataset data = SmallData({10, 5}, 2);
  const Matrix x = SmallQueries(10, 2);
  const Prediction plain = *Fit(data)->Predict(x, {});
  for (const double unit : {0x1p-40, 0x1p40}) {  // powers of 2: a search that rounds otherwise may find another mode
    Dataset scaled = data;
    for (LevelData& level : scaled.levels) {
      level.x *= 1024;
      level.y *= unit;
    }
    const Prediction p = *Fit(scaled)->Predict(1024 * x, {});
    EXPECT_TRUE((p.mean / unit).isApprox(plain.mean, 1e-6)) << unit;
  }
}

TEST_P(BaselineEmulatorTest, GivenNoiseIsUsedPointByPoint) {
  Dataset data = SmallData({20, 10}, 1);
  Vector& noise = data.levels[1].noise_variance;
  noise = Vector::Constant(10, 1e-8);
  noise[3] = 1e4;  // tells nothing
  data.levels[1].y[3] += 5;
  const auto model = Fit(data);
  const Prediction p = *model->Predict(data.levels[1].x, {});
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(p.mean[i], SmallFunction(data.levels[1].x.row(i), 1), i == 3 ? 0.5 : 0.02) << i;
  }
  // A new observation of a level with given noise has their mean.
  const Prediction y = *model->Predict(data.levels[1].x, {.include_noise = true});
  EXPECT_GT(y.variance.minCoeff(), noise.mean());
}

// Draw by draw: the same hyperparameters, and what is left after the observation and the levels above are taken away.
TEST_P(BaselineEmulatorTest, LeaveOneOutEqualsConditioningOnTheRest) {
  Dataset data = SmallData({9, 6, 4}, 1);
  // Noise, so that variances are not rounding beside the prior's.
  Random random(/*seed=*/5, /*stream=*/0);
  for (LevelData& level : data.levels) level.y += 0.1 * random.NormalVector(static_cast<int>(level.y.size()));
  const auto model = Fit(data);
  const auto left_out = model->LeaveOneOutMixtures();
  ASSERT_TRUE(left_out.ok());
  for (int level = 0; level < 3; ++level) {
    for (const int i : {0, 2}) {
      Dataset rest = data;
      for (int t = level; t < 3; ++t) {
        std::vector<int> kept;
        for (int j = 0; t == level && j < data.levels[t].y.size(); ++j) {
          if (j != i) kept.push_back(j);
        }
        rest.levels[t].x = data.levels[t].x(kept, Eigen::all).eval();
        rest.levels[t].y = data.levels[t].y(kept).eval();
      }
      const auto conditioned = model->Condition(rest, 1);
      ASSERT_TRUE(conditioned.ok()) << conditioned.status();
      const auto& other = dynamic_cast<const MixtureEmulator&>(**conditioned);
      Mixture mixture = *other.PredictMixture(data.levels[level].x.row(i), {.level = level, .include_noise = true});
      const double inflation = (*other.LeaveOneOutPredictions())[level].inflation;
      const Vector centre = MixtureMean(mixture);
      mixture.mean = ((mixture.mean.array() - centre[0]) / std::sqrt(inflation) + centre[0]).matrix().eval();
      const ObservedMixtures& at = (*left_out)[level];
      ASSERT_EQ(mixture.mean.rows(), at.mean.rows());
      for (int k = 0; k < mixture.mean.rows(); ++k) {
        const double sd = std::sqrt(at.variance(k, i));
        EXPECT_NEAR(mixture.mean(k, 0), at.mean(k, i), 1e-4 * sd) << "level " << level << " " << i << " " << k;
        EXPECT_NEAR(mixture.variance(k, 0) / inflation, at.variance(k, i), 1e-4 * at.variance(k, i))
            << "level " << level << " " << i << " " << k;
      }
    }
  }
}

// The same where observations are copies: none of the group is seen.
TEST_P(BaselineEmulatorTest, LeavingOutCopiesEqualsConditioningOnTheRest) {
  Dataset data = SmallData({9, 6}, 1);
  Random random(/*seed=*/5, /*stream=*/0);
  for (LevelData& level : data.levels) {
    level.y += 0.1 * random.NormalVector(static_cast<int>(level.y.size()));
    level.x.row(4) = level.x.row(1);
    level.x.row(5) = level.x.row(1);
  }
  const auto model = Fit(data);
  const auto left_out = model->LeaveOneOutMixtures();
  ASSERT_TRUE(left_out.ok());
  for (int level = 0; level < 2; ++level) {
    Dataset rest = data;
    for (int t = level; t < 2; ++t) {
      std::vector<int> kept;
      for (int j = 0; t == level && j < data.levels[t].y.size(); ++j) {
        if (j != 1 && j != 4 && j != 5) kept.push_back(j);
      }
      rest.levels[t].x = data.levels[t].x(kept, Eigen::all).eval();
      rest.levels[t].y = data.levels[t].y(kept).eval();
    }
    const auto conditioned = model->Condition(rest, 1);
    ASSERT_TRUE(conditioned.ok()) << conditioned.status();
    const auto& other = dynamic_cast<const MixtureEmulator&>(**conditioned);
    Mixture mixture = *other.PredictMixture(data.levels[level].x.row(1), {.level = level, .include_noise = true});
    const double inflation = (*other.LeaveOneOutPredictions())[level].inflation;
    const Vector centre = MixtureMean(mixture);
    mixture.mean = ((mixture.mean.array() - centre[0]) / std::sqrt(inflation) + centre[0]).matrix().eval();
    const ObservedMixtures& at = (*left_out)[level];
    for (const int i : {1, 4, 5}) {
      for (int k = 0; k < mixture.mean.rows(); ++k) {
        const double sd = std::sqrt(at.variance(k, i));
        EXPECT_NEAR(mixture.mean(k, 0), at.mean(k, i), 1e-4 * sd) << "level " << level << " " << i << " " << k;
        EXPECT_NEAR(mixture.variance(k, 0) / inflation, at.variance(k, i), 1e-4 * at.variance(k, i));
      }
    }
  }
}

TEST_P(BaselineEmulatorTest, VariancesOfTheHighestLevelGrowWhenItsResidualsAreLarge) {
  Dataset data = SmallData({12, 8}, 1);
  data.levels[1].y[2] += 4;  // what a smooth function can't explain
  data.levels[1].noise_variance = Vector::Constant(8, 1e-8);
  const auto model = Fit(data);
  const auto left_out = model->LeaveOneOutPredictions();
  ASSERT_TRUE(left_out.ok());
  const LeaveOneOut& top = (*left_out)[1];
  const double residual = ((top.y - top.mean).array().square() / top.variance.array()).mean();
  EXPECT_GT(residual, 1.3);
  EXPECT_NEAR(top.inflation, (kInflationPrior + 8 * residual) / (kInflationPrior + 8), 1e-9 * residual);
  EXPECT_EQ((*left_out)[0].inflation, 1);
}

TEST_P(BaselineEmulatorTest, IntervalsWidenWhereNoHighFidelityDataIs) {
  Dataset data = SmallData({20, 8}, 1);
  LevelData& high = data.levels[1];
  high.x *= 0.4;  // the left side only
  for (int i = 0; i < high.x.rows(); ++i) high.y[i] = SmallFunction(high.x.row(i), 1);
  const Prediction p = *Fit(data)->Predict(Matrix{{0.2}, {0.95}}, {});
  EXPECT_GT(p.variance[1], 3 * p.variance[0]);
}

TEST_P(BaselineEmulatorTest, ACheckpointOfAnotherMethodIsRefused) {
  const std::string bytes = Fit(SmallData({6, 4}, 1))->Save();
  for (const BaselineMethod other : kAllBaselineMethods) {
    EXPECT_EQ(LoadBaseline(other, bytes).ok(), other == GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, BaselineEmulatorTest, ::testing::ValuesIn(kAllBaselineMethods),
                         [](const auto& test) { return std::string(NameOf(test.param)); });

}  // namespace
}  // namespace fidelio
