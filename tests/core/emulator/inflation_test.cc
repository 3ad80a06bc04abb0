#include "core/emulator/inflation.h"

#include "core/base/random.h"
#include "core/emulator/mixture.h"
#include "gtest/gtest.h"

namespace fidelio {
namespace {

LeaveOneOut Residuals(const Vector& residuals) {
  const Vector zero = Vector::Zero(residuals.size());
  return {.y = residuals, .mean = zero, .variance = Vector::Ones(residuals.size()), .cdf = zero, .log_density = zero};
}

TEST(InflationTest, ACalibratedModelOfFivePointsIsHardlyWidenedInExpectation) {
  Random random(1, 0);
  double sum = 0, unshrunk = 0;
  constexpr int kModels = 20000;
  for (int i = 0; i < kModels; ++i) {
    const LeaveOneOut left_out = Residuals(random.NormalVector(5));
    sum += InflationOf(left_out).factor;
    unshrunk += UnshrunkInflation(MeanSquaredResidual(left_out)).factor;
  }
  EXPECT_LT(sum / kModels, 1.09);
  EXPECT_GT(unshrunk / kModels, 1.2);  // what was served before
}

TEST(InflationTest, ManyResidualsAreBelieved) {
  EXPECT_NEAR(InflationOf(Residuals(Vector::Constant(1000, 2))).factor, 4, 0.05);
  EXPECT_EQ(InflationOf(Residuals(Vector::Constant(1000, 0.5))).factor, 1);
}

TEST(InflationTest, CopiesCountOnce) {
  LeaveOneOut left_out = Residuals(Vector::Constant(4, 2));
  left_out.group = {0, 0, 0, 1};
  EXPECT_NEAR(InflationOf(left_out).factor, (kInflationPrior + 8) / (kInflationPrior + 2), 1e-12);
}

TEST(InflationTest, NoResidualsGiveNone) { EXPECT_EQ(InflationOf(Residuals(Vector(0))).factor, 1); }

}  // namespace
}  // namespace fidelio
