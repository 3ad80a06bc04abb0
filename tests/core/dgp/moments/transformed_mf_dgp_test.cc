// TransformedEmulator over fitted MF-DGPs.
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "core/dgp/moments/mf_dgp.h"
#include "core/emulator/transformed_emulator.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;
using Kind = OutputTransform::Kind;

// Positive, over three orders of magnitude.
double Positive(const Eigen::RowVectorXd& x, int level) { return std::exp(3 * SmallFunction(x, level)); }

std::unique_ptr<TransformedEmulator> FitOrDie(Kind kind) {
  Dataset data = SmallData({16, 8}, 1);
  for (int t = 0; t < 2; ++t) {
    LevelData& level = data.levels[t];
    for (Index i = 0; i < level.y.size(); ++i) {
      const double y = Positive(level.x.row(i), t);
      level.y[i] = kind == Kind::kLog ? y : 2 * y / (1 + y);
    }
  }
  auto transformed = TransformOutputs(data, {.kind = kind, .lower = 0, .upper = 2});
  EXPECT_TRUE(transformed.ok()) << transformed.status();
  auto base = FitMfDgp(transformed->data, {.seed = 1});
  EXPECT_TRUE(base.ok()) << base.status();
  return std::make_unique<TransformedEmulator>(transformed->transform, *std::move(base));
}

class TransformedEmulatorTest : public ::testing::TestWithParam<Kind> {
 protected:
  static const TransformedEmulator& Model() {
    static const TransformedEmulator* const log = FitOrDie(Kind::kLog).release();
    static const TransformedEmulator* const logit = FitOrDie(Kind::kLogit).release();
    return GetParam() == Kind::kLog ? *log : *logit;
  }
  static Prediction PredictOrDie(const Matrix& x, const PredictOptions& options = {}) {
    auto prediction = Model().Predict(x, options);
    EXPECT_TRUE(prediction.ok()) << prediction.status();
    return *std::move(prediction);
  }
};

TEST_P(TransformedEmulatorTest, PredictsInTheUnitsOfTheData) {
  const Matrix x = SmallQueries(60, 1);
  for (int level = 0; level < 2; ++level) {
    const Prediction p = PredictOrDie(x, {.level = level, .quantiles = {1e-6, 1 - 1e-6}});
    for (Index i = 0; i < x.rows(); ++i) {
      const double y = Positive(x.row(i), level), truth = GetParam() == Kind::kLog ? y : 2 * y / (1 + y);
      EXPECT_NEAR(p.mean[i], truth, 0.1 * truth);
    }
    EXPECT_GT(p.variance.minCoeff(), 0);
    EXPECT_GT(p.quantiles.minCoeff(), 0);
    if (GetParam() == Kind::kLogit) {
      EXPECT_LT(p.quantiles.maxCoeff(), 2);
    }
  }
}

TEST_P(TransformedEmulatorTest, MomentsAndQuantilesAreThoseOfSamples) {
  constexpr int kCount = 20000;
  Matrix x = SmallQueries(5, 1);
  x(0, 0) = 1.3;  // beyond the data: the Gaussians are wide
  for (const bool noise : {false, true}) {
    const Prediction p = PredictOrDie(x, {.include_noise = noise, .quantiles = {0.1, 0.9}});
    const auto paths = Model().SamplePaths(x, {.count = kCount, .seed = 2, .include_noise = noise});
    ASSERT_TRUE(paths.ok()) << paths.status();
    for (Index i = 0; i < x.rows(); ++i) {
      const Vector deviation = paths->col(i).array() - p.mean[i], squares = deviation.cwiseAbs2();
      const double error = std::sqrt((squares.array() - squares.mean()).square().mean() / kCount);
      EXPECT_NEAR(deviation.mean(), 0, 4.5 * std::sqrt(p.variance[i] / kCount)) << i;
      EXPECT_NEAR(squares.mean(), p.variance[i], 4.5 * error) << i;
      for (int k = 0; k < 2; ++k) {
        const double below = static_cast<double>((paths->col(i).array() < p.quantiles(i, k)).count()) / kCount;
        EXPECT_NEAR(below, k == 0 ? 0.1 : 0.9, 4.5 * std::sqrt(0.09 / kCount));
      }
    }
  }
}

TEST_P(TransformedEmulatorTest, TheDensityIntegratesToTheProbabilityBetweenQuantiles) {
  const Matrix x = SmallQueries(3, 1);
  const Prediction p = PredictOrDie(x, {.quantiles = {0.05, 0.95}});
  for (Index i = 0; i < x.rows(); ++i) {
    constexpr int kSteps = 2000;
    const double from = p.quantiles(i, 0), step = (p.quantiles(i, 1) - from) / kSteps;
    const Vector y = Vector::LinSpaced(kSteps + 1, from, p.quantiles(i, 1));
    const auto log_density = Model().LogDensity(x.row(i).replicate(kSteps + 1, 1), y, {});
    ASSERT_TRUE(log_density.ok());
    const Vector density = log_density->array().exp();
    EXPECT_NEAR(step * (density.sum() - 0.5 * (density[0] + density[kSteps])), 0.9, 1e-4);
  }
}

TEST_P(TransformedEmulatorTest, InputGradientAgreesWithDifferences) {
  Matrix x = SmallQueries(5, 1);
  x(0, 0) = 1.3;
  for (int level = 0; level < 2; ++level) {
    const Matrix gradient = PredictOrDie(x, {.level = level, .input_gradient = true}).input_gradient;
    const double h = 1e-5;
    const Vector up = PredictOrDie(x.array() + h, {.level = level}).mean;
    const Vector down = PredictOrDie(x.array() - h, {.level = level}).mean;
    EXPECT_TRUE(RelativelyNear(gradient, (up - down) / (2 * h), 1e-5)) << "level " << level;
  }
}

TEST_P(TransformedEmulatorTest, PredictionsDoNotDependOnThreads) {
  const Matrix x = SmallQueries(200, 1);
  const Prediction one = PredictOrDie(x, {.quantiles = {0.1}, .input_gradient = true, .threads = 1});
  const Prediction many = PredictOrDie(x, {.quantiles = {0.1}, .input_gradient = true, .threads = 3});
  EXPECT_EQ(one.mean, many.mean);
  EXPECT_EQ(one.variance, many.variance);
  EXPECT_EQ(one.quantiles, many.quantiles);
  EXPECT_EQ(one.input_gradient, many.input_gradient);
}

TEST_P(TransformedEmulatorTest, LoadedModelPredictsTheSameBits) {
  const std::string bytes = Model().Save();
  const auto loaded = TransformedEmulator::Load(bytes, LoadMfDgp);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Matrix x = SmallQueries(10, 1);
  const auto p = (*loaded)->Predict(x, {});
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p->mean, PredictOrDie(x).mean);
  EXPECT_EQ((*loaded)->Save(), bytes);
  EXPECT_FALSE(TransformedEmulator::Load(Model().base().Save(), LoadMfDgp).ok());
  EXPECT_FALSE(TransformedEmulator::Load(bytes.substr(0, bytes.size() / 2), LoadMfDgp).ok());
}

TEST_P(TransformedEmulatorTest, DensityIsFiniteAtABorderAndRefusedOutside) {
  const Matrix x = SmallQueries(1, 1);
  const auto border = Model().LogDensity(x, Vector::Zero(1), {});
  ASSERT_TRUE(border.ok()) << border.status();
  EXPECT_TRUE(std::isfinite((*border)[0]));
  EXPECT_TRUE(IsError(Model().LogDensity(x, Vector::Constant(1, -1), {}).status(), absl::StatusCode::kInvalidArgument,
                      {"y[0]: -1, want"}));
}

TEST_P(TransformedEmulatorTest, JointMomentsHaveTheVariancesOfPredictAndTheCorrelationsOfTheBase) {
  const Matrix x = SmallQueries(6, 1);
  const std::vector<int> levels = {1, 0, 1, 0, 1, 1};
  const auto joint = Model().JointMomentsAt(x, levels, {});
  const auto base = Model().base().JointMomentsAt(x, levels, {});
  ASSERT_TRUE(joint.ok()) << joint.status();
  ASSERT_TRUE(base.ok()) << base.status();
  const std::vector<int> columns = {4, 1};
  const auto some = Model().JointColumnsAt(x, levels, columns, {});
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_TRUE(RelativelyNear(*some, joint->covariance(Eigen::all, columns), 1e-6));
  for (Index i = 0; i < 6; ++i) {
    const auto single = Model().Predict(x.row(i), {.level = levels[i]});
    ASSERT_TRUE(single.ok()) << single.status();
    EXPECT_NEAR(joint->mean[i] / single->mean[0], 1, 1e-5);
    EXPECT_NEAR(joint->covariance(i, i) / single->variance[0], 1, 1e-5);
    for (Index j = 0; j < i; ++j) {
      EXPECT_NEAR(joint->covariance(i, j) / std::sqrt(joint->covariance(i, i) * joint->covariance(j, j)),
                  base->covariance(i, j) / std::sqrt(base->covariance(i, i) * base->covariance(j, j)), 1e-9);
    }
  }
}

TEST_P(TransformedEmulatorTest, LeftOutObservationsArePredictedInTheUnitsOfTheData) {
  const auto left_out = Model().LeaveOneOutPredictions();
  const auto base = Model().base().LeaveOneOutPredictions();
  ASSERT_TRUE(left_out.ok()) << left_out.status();
  ASSERT_TRUE(base.ok()) << base.status();
  for (size_t t = 0; t < left_out->size(); ++t) {
    const LeaveOneOut& at = (*left_out)[t];
    EXPECT_EQ(at.cdf, (*base)[t].cdf);
    for (Index i = 0; i < at.y.size(); ++i) {
      EXPECT_NEAR(Model().transform().Forward(at.y[i]), (*base)[t].y[i], 1e-9);
      EXPECT_LT(std::abs(at.y[i] - at.mean[i]), 8 * std::sqrt(at.variance[i]));
      EXPECT_NEAR(at.log_density[i], (*base)[t].log_density[i] + std::log(Model().transform().Slope(at.y[i])), 1e-9);
    }
  }
}

TEST_P(TransformedEmulatorTest, BadQueriesNameFieldValueAndRule) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const Matrix x = SmallQueries(2, 1);
  EXPECT_TRUE(IsError(Model().Predict(SmallQueries(2, 3), {}).status(), kInvalid, {"x: 3 columns"}));
  EXPECT_TRUE(IsError(Model().Predict(x, {.level = 2}).status(), kInvalid, {"level: 2, want 0 to 1"}));
  EXPECT_TRUE(IsError(Model().Predict(x, {.quantiles = {2}}).status(), kInvalid, {"quantiles[0]: 2"}));
  EXPECT_TRUE(IsError(Model().SamplePaths(x, {.count = 0}).status(), kInvalid, {"count: 0"}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, TransformedEmulatorTest, testing::Values(Kind::kLog, Kind::kLogit),
                         [](const auto& test) { return test.param == Kind::kLog ? "Log" : "Logit"; });

}  // namespace
}  // namespace fidelio
