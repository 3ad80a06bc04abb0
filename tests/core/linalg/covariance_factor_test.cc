#include "core/linalg/covariance_factor.h"

#include <Eigen/QR>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

TEST(FactoriseCovarianceTest, ThePositiveDefiniteHaveALowerTriangularFactor) {
  for (const int n : {1, 5, 40}) {
    const Matrix covariance = RandomPositiveDefinite(n, 3);
    Matrix factor = covariance;
    ASSERT_TRUE(FactoriseCovariance(factor, "k").ok());
    EXPECT_TRUE(Near(factor * factor.transpose(), covariance, 1e-13));
    EXPECT_TRUE(factor.isLowerTriangular(0));
  }
}

TEST(FactoriseCovarianceTest, TheSingularHaveAFactor) {
  const Matrix half = RandomNormal(6, 2, 4);
  const Matrix covariance = half * half.transpose();
  Matrix factor = covariance;
  ASSERT_TRUE(FactoriseCovariance(factor, "k").ok());
  EXPECT_TRUE(Near(factor * factor.transpose(), covariance, 1e-5));
}

TEST(FactoriseCovarianceTest, NegativeEigenvaluesCountAsZero) {
  const Matrix q = RandomNormal(5, 5, 6).householderQr().householderQ();
  const Vector eigenvalues{{3, 2, 1, 0.5, -0.01}};
  Matrix factor = q * eigenvalues.asDiagonal() * q.transpose();
  ASSERT_TRUE(FactoriseCovariance(factor, "k").ok());
  EXPECT_TRUE(Near(factor * factor.transpose(), q * eigenvalues.cwiseMax(0).asDiagonal() * q.transpose(), 1e-13));
}

TEST(FactoriseCovarianceTest, WithoutVarianceTheFactorIsZero) {
  Matrix factor = Matrix::Zero(3, 3);
  ASSERT_TRUE(FactoriseCovariance(factor, "k").ok());
  EXPECT_EQ(factor, Matrix::Zero(3, 3));
}

TEST(FactoriseCovarianceTest, AnEmptyCovarianceHasAnEmptyFactor) {
  Matrix factor(0, 0);
  EXPECT_TRUE(FactoriseCovariance(factor, "k").ok());
}

TEST(FactoriseCovarianceTest, WhatIsNotFiniteIsRefusedByName) {
  Matrix factor = Matrix::Identity(3, 3);
  factor(2, 1) = factor(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(IsError(FactoriseCovariance(factor, "covariance of y"), absl::StatusCode::kInternal,
                      {"covariance of y (3×3) is not finite"}));
}

}  // namespace
}  // namespace fidelio
