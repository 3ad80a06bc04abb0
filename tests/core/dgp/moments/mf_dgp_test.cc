#include "core/dgp/moments/mf_dgp.h"

#include <cmath>
#include <limits>
#include <memory>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

bool Contains(absl::string_view text, absl::string_view part) { return absl::StrContains(text, part); }

std::unique_ptr<MfDgp> FitOrDie(const Dataset& data, const FitOptions& options = {}) {
  auto model = MfDgp::Fit(data, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

Prediction PredictOrDie(const Emulator& model, const Matrix& x, const PredictOptions& options = {}) {
  auto prediction = model.Predict(x, options);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return *std::move(prediction);
}

// One fitted model for the tests that only look at it.
class MfDgpTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = FitOrDie(SmallData({14, 8, 5}, 2)).release(); }
  static void TearDownTestSuite() { delete model_; }
  static const MfDgp* model_;
};
const MfDgp* MfDgpTest::model_ = nullptr;

TEST_F(MfDgpTest, PredictsEveryLevelNearTheTruth) {
  const Matrix x = SmallQueries(200, 2);
  for (int level = 0; level < 3; ++level) {
    const Prediction p = PredictOrDie(*model_, x, {.level = level});
    double squares = 0, spread = 0;
    for (int i = 0; i < x.rows(); ++i) {
      squares += std::pow(p.mean[i] - SmallFunction(x.row(i), level), 2);
      spread += std::pow(SmallFunction(x.row(i), level), 2);
    }
    EXPECT_LT(squares, 0.02 * spread) << "level " << level;
    EXPECT_GT(p.variance.minCoeff(), 0);
  }
}

TEST_F(MfDgpTest, DefaultLevelIsTheHighest) {
  const Matrix x = SmallQueries(5, 2);
  EXPECT_EQ(PredictOrDie(*model_, x).mean, PredictOrDie(*model_, x, {.level = 2}).mean);
}

TEST_F(MfDgpTest, NoiseOnlyAddsVariance) {
  const Matrix x = SmallQueries(20, 2);
  const Prediction f = PredictOrDie(*model_, x), y = PredictOrDie(*model_, x, {.include_noise = true});
  EXPECT_TRUE(f.mean.isApprox(y.mean, 1e-12));
  EXPECT_GT((y.variance - f.variance).minCoeff(), 0);
}

TEST_F(MfDgpTest, QuantilesAreOrderedAndInvertTheDensity) {
  const Matrix x = SmallQueries(3, 2);
  const Prediction p = PredictOrDie(*model_, x, {.quantiles = {0.025, 0.5, 0.975}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_LT(p.quantiles(i, 0), p.quantiles(i, 1));
    EXPECT_LT(p.quantiles(i, 1), p.quantiles(i, 2));
    // The density integrates to 95 % between the outer quantiles (trapezoids).
    constexpr int kSteps = 2000;
    const double a = p.quantiles(i, 0), step = (p.quantiles(i, 2) - a) / kSteps;
    Vector y(kSteps + 1);
    for (int k = 0; k <= kSteps; ++k) y[k] = a + k * step;
    const auto density = model_->LogDensity(x.row(i).replicate(kSteps + 1, 1), y, {});
    ASSERT_TRUE(density.ok());
    const Vector values = density->array().exp();
    EXPECT_NEAR(step * (values.sum() - 0.5 * (values[0] + values[kSteps])), 0.95, 1e-4);
  }
}

TEST_F(MfDgpTest, InputGradientAgreesWithDifferences) {
  const Matrix x = SmallQueries(4, 2);
  for (int level = 0; level < 3; ++level) {
    const Prediction p = PredictOrDie(*model_, x, {.level = level, .input_gradient = true});
    for (int d = 0; d < 2; ++d) {
      const double h = 1e-5;
      Matrix up = x, down = x;
      up.col(d).array() += h;
      down.col(d).array() -= h;
      const Vector difference =
          (PredictOrDie(*model_, up, {.level = level}).mean - PredictOrDie(*model_, down, {.level = level}).mean) /
          (2 * h);
      EXPECT_TRUE(difference.isApprox(p.input_gradient.col(d), 1e-6)) << "level " << level << " dimension " << d;
    }
  }
}

TEST_F(MfDgpTest, PredictionsDoNotDependOnThreads) {
  const Matrix x = SmallQueries(700, 2);
  const Prediction one = PredictOrDie(*model_, x, {.quantiles = {0.1}, .threads = 1});
  const Prediction four = PredictOrDie(*model_, x, {.quantiles = {0.1}, .threads = 4});
  EXPECT_EQ(one.mean, four.mean);
  EXPECT_EQ(one.variance, four.variance);
  EXPECT_EQ(one.quantiles, four.quantiles);
}

TEST_F(MfDgpTest, LoadedModelPredictsTheSameBits) {
  const std::string bytes = model_->Save();
  const auto loaded = MfDgp::Load(bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Matrix x = SmallQueries(50, 2);
  for (int level = 0; level < 3; ++level) {
    const PredictOptions options{.level = level, .include_noise = true, .quantiles = {0.3}};
    const Prediction before = PredictOrDie(*model_, x, options), after = PredictOrDie(**loaded, x, options);
    EXPECT_EQ(before.mean, after.mean);
    EXPECT_EQ(before.variance, after.variance);
    EXPECT_EQ(before.quantiles, after.quantiles);
  }
  EXPECT_EQ((*loaded)->Save(), bytes);
  EXPECT_EQ((*loaded)->report().evaluations, model_->report().evaluations);
}

TEST_F(MfDgpTest, EveryDamagedCheckpointIsAnError) {
  const std::string bytes = model_->Save();
  for (size_t at = 0; at < bytes.size(); at += 97) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    EXPECT_FALSE(MfDgp::Load(flipped).ok()) << "bit " << at % 8 << " of byte " << at;
    EXPECT_FALSE(MfDgp::Load(bytes.substr(0, at)).ok()) << "cut at " << at;
  }
  EXPECT_PRED2(Contains, MfDgp::Load("a,b\n1,2\n").status().message(), "not a Fidelio checkpoint");
}

TEST_F(MfDgpTest, BadQueriesNameFieldValueAndRule) {
  const Matrix x = SmallQueries(2, 2);
  const auto message = [&](const Matrix& at, const PredictOptions& options) {
    const auto p = model_->Predict(at, options);
    EXPECT_EQ(p.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(p.status().message());
  };
  EXPECT_PRED2(Contains, message(SmallQueries(2, 3), {}), "x: 3 columns, but the model has input dimension 2");
  EXPECT_PRED2(Contains, message(x, {.level = 3}), "level: 3, want 0 to 2");
  EXPECT_PRED2(Contains, message(x, {.quantiles = {0.5, 1.0}}), "quantiles[1]: 1, want");
  Matrix bad = x;
  bad(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_PRED2(Contains, message(bad, {}), "x[1,0]: nan");
  EXPECT_FALSE(model_->LogDensity(x, Vector::Zero(3), {}).ok());
}

TEST(MfDgpFitTest, SameSeedSameBitsWhateverTheThreads) {
  const Dataset data = SmallData({10, 5}, 1);
  const std::string one = FitOrDie(data, {.seed = 3, .threads = 1})->Save();
  const auto three = FitOrDie(data, {.seed = 3, .threads = 3});
  const Matrix x = SmallQueries(10, 1);
  const auto again = MfDgp::Load(one);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(PredictOrDie(**again, x).mean, PredictOrDie(*three, x).mean);
  EXPECT_NE(PredictOrDie(**again, x).mean, PredictOrDie(*FitOrDie(data, {.seed = 4, .threads = 1}), x).mean);
}

TEST(MfDgpFitTest, UnitsDoNotMatter) {
  const Dataset data = SmallData({10, 5}, 2);
  const Matrix x = SmallQueries(10, 2);
  const Prediction plain = PredictOrDie(*FitOrDie(data), x);
  for (const double unit : {1e-12, 1e12}) {
    Dataset scaled = data;
    for (LevelData& level : scaled.levels) {
      level.x *= 1000;
      level.y *= unit;
    }
    const Prediction p = PredictOrDie(*FitOrDie(scaled), 1000 * x);
    EXPECT_TRUE((p.mean / unit).isApprox(plain.mean, 0.02)) << unit;
    EXPECT_TRUE(p.variance.allFinite());
  }
}

TEST(MfDgpFitTest, EveryKernelAndTheirAverageFit) {
  const Dataset data = SmallData({10, 5}, 1);
  const Matrix x = SmallQueries(20, 1);
  std::vector<std::optional<KernelFamily>> kernels(std::begin(kAllKernelFamilies), std::end(kAllKernelFamilies));
  kernels.push_back(std::nullopt);
  for (const auto& kernel : kernels) {
    const Prediction p = PredictOrDie(*FitOrDie(data, {.kernel = kernel}), x);
    for (int i = 0; i < x.rows(); ++i) EXPECT_NEAR(p.mean[i], SmallFunction(x.row(i), 1), 0.3);
  }
}

TEST(MfDgpFitTest, OneLevelIsAGaussianProcess) {
  const Dataset data = SmallData({12}, 1);
  const auto model = FitOrDie(data);
  const Prediction p = PredictOrDie(*model, data.levels[0].x);
  EXPECT_TRUE(p.mean.isApprox(data.levels[0].y, 1e-2));
}

TEST(MfDgpFitTest, GivenNoiseIsUsed) {
  Dataset data = SmallData({20}, 1);
  data.levels[0].noise_variance = Vector::Constant(20, 1.0);  // far more than the signal's variance
  const Prediction noisy = PredictOrDie(*FitOrDie(data), data.levels[0].x);
  data.levels[0].noise_variance.setConstant(1e-8);
  const Prediction exact = PredictOrDie(*FitOrDie(data), data.levels[0].x);
  EXPECT_LT((exact.mean - data.levels[0].y).norm(), 0.1 * (noisy.mean - data.levels[0].y).norm());
  EXPECT_GT(noisy.variance.minCoeff(), exact.variance.maxCoeff());
}

TEST(MfDgpFitTest, EmptyLevelsAreAllowedAboveTheLowest) {
  for (const std::vector<int>& sizes : {std::vector<int>{10, 0, 4}, {10, 5, 0}, {10, 1}, {1, 1}}) {
    const auto model = FitOrDie(SmallData(sizes, 1));
    for (int level = 0; level < model->levels(); ++level) {
      const Prediction p = PredictOrDie(*model, SmallQueries(5, 1), {.level = level});
      EXPECT_TRUE(p.mean.allFinite() && p.variance.allFinite());
    }
  }
  EXPECT_EQ(MfDgp::Fit(SmallData({0, 5}, 1), {}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(MfDgpFitTest, DegenerateDataStaysFinite) {
  Dataset constant = SmallData({8, 4}, 2);
  for (LevelData& level : constant.levels) level.y.setConstant(7);
  Dataset repeated = SmallData({8, 4}, 2);
  for (LevelData& level : repeated.levels) level.x.rowwise() = level.x.row(0).eval();
  for (const Dataset& data : {constant, repeated}) {
    const Prediction p = PredictOrDie(*FitOrDie(data), SmallQueries(5, 2), {.quantiles = {0.05, 0.95}});
    EXPECT_TRUE(p.mean.allFinite() && p.variance.allFinite() && p.quantiles.allFinite());
  }
  EXPECT_NEAR(PredictOrDie(*FitOrDie(constant), SmallQueries(1, 2)).mean[0], 7, 0.1);
}

TEST(MfDgpFitTest, ALowFidelityThatTellsNothingDoesNoHarm) {
  Dataset data = SmallData({20, 9}, 1);
  for (int i = 0; i < 20; ++i) data.levels[0].y[i] = std::cos(19 * data.levels[0].x(i, 0) + 1);
  Dataset alone;
  alone.levels = {data.levels[1]};
  const Matrix x = SmallQueries(100, 1);
  const auto error = [&](const Emulator& model) {
    const Prediction p = PredictOrDie(model, x);
    double squares = 0;
    for (int i = 0; i < x.rows(); ++i) squares += std::pow(p.mean[i] - SmallFunction(x.row(i), 1), 2);
    return std::sqrt(squares / static_cast<double>(x.rows()));
  };
  const auto linked = FitOrDie(data);
  EXPECT_LT(error(*linked), 1.2 * error(*FitOrDie(alone)) + 1e-4);
  // The level below is still there, and so is the whole model after a round trip.
  const Prediction low = PredictOrDie(*linked, data.levels[0].x, {.level = 0});
  EXPECT_LT((low.mean - data.levels[0].y).cwiseAbs().maxCoeff(), 0.1);
  const auto loaded = MfDgp::Load(linked->Save());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(PredictOrDie(**loaded, x).mean, PredictOrDie(*linked, x).mean);
}

TEST(MfDgpFitTest, IntervalsWidenWhereNoHighFidelityDataIs) {
  Dataset data = SmallData({20, 12}, 1);
  LevelData& high = data.levels[1];
  high.x *= 0.4;  // the left side only
  for (int i = 0; i < high.x.rows(); ++i) high.y[i] = SmallFunction(high.x.row(i), 1);
  const auto model = FitOrDie(data);
  const Prediction p = PredictOrDie(*model, Matrix{{0.2}, {0.95}});
  EXPECT_GT(p.variance[1], 10 * p.variance[0]);
}

}  // namespace
}  // namespace fidelio
