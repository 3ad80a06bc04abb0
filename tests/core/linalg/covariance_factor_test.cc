#include "core/linalg/covariance_factor.h"

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

// Of rank 6, but for errors.
Matrix CovarianceWithErrors(int n, double size) {
  const Matrix half = RandomNormal(n, 6, 6), noise = RandomNormal(n, n, 7);
  return half * half.transpose() + size * (noise + noise.transpose());
}

TEST(FactoriseCovarianceTest, ErrorsBeyondJitterAreNotMuchAmplified) {
  for (const double size : {1e-4, 1e-2}) {
    const Matrix covariance = CovarianceWithErrors(60, size);
    Matrix factor = covariance;
    ASSERT_TRUE(FactoriseCovariance(factor, "k").ok());
    EXPECT_TRUE(Near(factor * factor.transpose(), covariance, 30 * size));
    EXPECT_LT(factor.cols(), 20);
  }
}

TEST(FactoriseCovarianceTest, ErrorsBeyondJitterDoNotRaiseVariances) {
  const Matrix covariance = CovarianceWithErrors(60, 1e-2);
  Matrix factor = covariance;
  ASSERT_TRUE(FactoriseCovariance(factor, "k").ok());
  const Vector excess = factor.rowwise().squaredNorm() - covariance.diagonal();
  EXPECT_LT(excess.maxCoeff(), 1e-13);
}

TEST(FactoriseCovarianceTest, WithoutVarianceTheFactorIsEmpty) {
  Matrix factor = Matrix::Zero(3, 3);
  ASSERT_TRUE(FactoriseCovariance(factor, "k").ok());
  EXPECT_EQ(factor.rows(), 3);
  EXPECT_EQ(factor.cols(), 0);
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
