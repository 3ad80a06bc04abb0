#include "core/emulator/diagnostics.h"

#include <cmath>

#include "core/base/normal.h"
#include "core/base/random.h"
#include "gtest/gtest.h"

namespace fidelio {
namespace {

LeaveOneOut Predictions(const Vector& y, const Vector& mean, const Vector& sd) {
  LeaveOneOut result{.y = y, .mean = mean, .variance = sd.cwiseAbs2(), .cdf = y, .log_density = y};
  result.median = mean;
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    const double z = (y[i] - mean[i]) / sd[i];
    result.cdf[i] = NormalCdf(z);
    result.log_density[i] = -0.5 * z * z - std::log(sd[i]) - 0.5 * kLogTwoPi;
  }
  return result;
}

TEST(DiagnosticsTest, AreThoseOfSmallExamples) {
  const LevelDiagnostics d = Diagnose(Predictions(Vector{{1, 2, 6}}, Vector{{1, 3, 4}}, Vector{{1, 2, 0.5}}));
  EXPECT_EQ(d.count, 3);
  EXPECT_EQ(d.residuals, (Vector{{0, -0.5, 4}}));
  EXPECT_NEAR(d.rmse, std::sqrt(5.0 / 3), 1e-15);
  EXPECT_EQ(d.median, (Vector{{1, 3, 4}}));
  EXPECT_NEAR(d.r2, 1 - 5.0 / 14, 1e-15);
  EXPECT_NEAR(d.coverage50, 2.0 / 3, 1e-15);
  EXPECT_NEAR(d.coverage95, 2.0 / 3, 1e-15);
}

TEST(DiagnosticsTest, MediansHaveAnErrorOfTheirOwn) {
  LeaveOneOut left_out = Predictions(Vector{{1, 2}}, Vector{{100, 200}}, Vector{{1, 1}});
  left_out.median = Vector{{1, 4}};
  EXPECT_NEAR(Diagnose(left_out).median_rmse, std::sqrt(2), 1e-15);
}

TEST(DiagnosticsTest, PredictionsThatAreRightOnAverageHaveTheNominalCoverage) {
  constexpr int kCount = 20000;
  Random random(1, 0);
  Vector y(kCount);
  for (double& value : y) value = 3 + 2 * random.Normal();
  const Vector mean = Vector::Constant(kCount, 3), sd = Vector::Constant(kCount, 2);
  const LevelDiagnostics good = Diagnose(Predictions(y, mean, sd));
  EXPECT_NEAR(good.coverage50, 0.50, 0.015);
  EXPECT_NEAR(good.coverage90, 0.90, 0.010);
  EXPECT_NEAR(good.coverage95, 0.95, 0.007);
  EXPECT_NEAR(good.r2, 0, 0.01);
  const LevelDiagnostics proud = Diagnose(Predictions(y, mean, sd / 2));
  EXPECT_LT(proud.coverage90, 0.65);
  EXPECT_LT(proud.mean_log_density, good.mean_log_density);
}

TEST(DiagnosticsTest, EqualOutputsAndNoOutputsGiveNumbers) {
  EXPECT_EQ(Diagnose(Predictions(Vector::Ones(4), Vector::Ones(4), Vector::Ones(4))).r2, 0);
  const LevelDiagnostics none = Diagnose(LeaveOneOut());
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.coverage90, 0);
  EXPECT_EQ(none.inflation, 1);
}

}  // namespace
}  // namespace fidelio
