#include "core/optim/laplace.h"

#include <cmath>
#include <limits>

#include "core/base/normal.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

const Matrix kHessian{{5, 1}, {1, 3}};

TEST(LaplaceTest, EvidenceOfAGaussianIsExact) {
  const auto curvature = MeasureCurvature(kHessian);
  ASSERT_TRUE(curvature.ok());
  // ∫ exp(2 − ½ zᵀHz) dz = e² 2π / √det H
  EXPECT_NEAR(LaplaceEvidence(2, curvature->values), 2 + kLogTwoPi - 0.5 * std::log(14.0), 1e-12);
}

TEST(LaplaceTest, WhitenedCoordinatesMakeTheHessianTheIdentity) {
  const auto curvature = MeasureCurvature(kHessian);
  ASSERT_TRUE(curvature.ok());
  const HmcSpace space = WhitenedSpace(Vector::Constant(2, 7), *curvature);
  EXPECT_EQ(space.origin, Vector::Constant(2, 7));
  EXPECT_TRUE(Near(space.basis.transpose() * kHessian * space.basis, Matrix::Identity(2, 2), 1e-12));
}

TEST(LaplaceTest, NoDirectionIsWiderThanThePrior) {
  const auto curvature = MeasureCurvature(Matrix{{-3, 0}, {0, 4}});
  ASSERT_TRUE(curvature.ok());
  EXPECT_TRUE(Near(curvature->values, Vector{{1, 4}}, 1e-12));
}

TEST(LaplaceTest, AHessianThatIsNotFiniteIsAnError) {
  EXPECT_EQ(MeasureCurvature(Matrix::Constant(2, 2, std::numeric_limits<double>::quiet_NaN())).status().code(),
            absl::StatusCode::kInternal);
}

TEST(LaplaceTest, WeightsAreTemperedEvidenceOfTheBestModes) {
  const Vector log_evidence{{0, std::log(4.0), -1e3, std::log(2.25)}};
  EXPECT_TRUE(Near(WeightsByEvidence(log_evidence, 1, 4, 0), Vector{{1, 4, 0, 2.25}} / 7.25, 1e-12));
  EXPECT_TRUE(Near(WeightsByEvidence(log_evidence, 2, 4, 0), Vector{{1, 2, 0, 1.5}} / 4.5, 1e-12));
  EXPECT_TRUE(Near(WeightsByEvidence(log_evidence, 2, 2, 0), Vector{{0, 2, 0, 1.5}} / 3.5, 1e-12));
  EXPECT_TRUE(Near(WeightsByEvidence(log_evidence, 2, 4, 0.25), Vector{{0, 2, 0, 1.5}} / 3.5, 1e-12));
}

}  // namespace
}  // namespace fidelio
