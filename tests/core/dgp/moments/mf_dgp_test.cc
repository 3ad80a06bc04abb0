#include "core/dgp/moments/mf_dgp.h"

#include <cmath>
#include <memory>

#include "gtest/gtest.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

std::unique_ptr<MixtureEmulator> FitOrDie(const Dataset& data, const FitOptions& options = {}) {
  auto model = FitMfDgp(data, options);
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
  static const MixtureEmulator* model_;
};
const MixtureEmulator* MfDgpTest::model_ = nullptr;

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

TEST(MfDgpFitTest, SameSeedSameBitsWhateverTheThreads) {
  const Dataset data = SmallData({10, 5}, 1);
  const std::string one = FitOrDie(data, {.seed = 3, .threads = 1})->Save();
  const auto three = FitOrDie(data, {.seed = 3, .threads = 3});
  const Matrix x = SmallQueries(10, 1);
  const auto again = LoadMfDgp(one);
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
  const auto loaded = LoadMfDgp(linked->Save());
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
