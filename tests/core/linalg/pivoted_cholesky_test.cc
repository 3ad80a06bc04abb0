#include "core/linalg/pivoted_cholesky.h"

#include <cmath>
#include <vector>

#include "Eigen/LU"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

Matrix SmoothKernel(int n) {
  const Matrix x = RandomUniform(n, 2, 1);
  Matrix a(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) a(i, j) = std::exp(-0.5 * (x.row(i) - x.row(j)).squaredNorm() / 0.04);
  }
  return a;
}

TEST(PivotedCholeskyTest, TheWholeFactorGivesTheMatrix) {
  const Matrix a = RandomPositiveDefinite(30, 2);
  PivotedCholesky cholesky(a);
  cholesky.GrowTo(0, 30);
  EXPECT_EQ(cholesky.rank(), 30);
  EXPECT_TRUE(Near(cholesky.factor() * cholesky.factor().transpose(), a, 1e-13));
  EXPECT_FALSE(cholesky.Grow());
}

TEST(PivotedCholeskyTest, TheTraceOfTheRestBoundsTheError) {
  const Matrix a = SmoothKernel(200);
  for (const double tolerance : {10.0, 1e-2, 1e-6}) {
    PivotedCholesky cholesky(a);
    cholesky.GrowTo(tolerance, 200);
    const Matrix error = a - cholesky.factor() * cholesky.factor().transpose();
    EXPECT_LE(cholesky.rest_trace(), tolerance);
    EXPECT_NEAR(error.trace(), cholesky.rest_trace(), 1e-12);
    EXPECT_LE(error.cwiseAbs().maxCoeff(), cholesky.rest_trace() + 1e-13);
    EXPECT_LT(cholesky.rank(), 150);
  }
}

TEST(PivotedCholeskyTest, OnlyColumnsOfPivotsAreRead) {
  const Matrix a = SmoothKernel(50);
  std::vector<int> read;
  PivotedCholesky cholesky(a.diagonal(), [&](Index i, Eigen::Ref<Vector> column) {
    read.push_back(static_cast<int>(i));
    column = a.col(i);
  });
  cholesky.GrowTo(0, 7);
  EXPECT_EQ(read, cholesky.pivots());
  EXPECT_EQ(read.size(), 7u);
}

TEST(PivotedCholeskyTest, PivotValuesMultiplyToDeterminants) {
  const Matrix a = RandomPositiveDefinite(12, 3);
  PivotedCholesky cholesky(a);
  cholesky.GrowTo(0, 5);
  const Matrix part = a(cholesky.pivots(), cholesky.pivots());
  double product = 1;
  for (const double value : cholesky.pivot_values()) product *= value;
  EXPECT_NEAR(product, part.determinant(), 1e-12 * product);
}

TEST(PivotedCholeskyTest, TheRankIsThatOfTheFactorWhateverTheScales) {
  const Matrix half = RandomNormal(40, 6, 4);
  const Vector scales = (10.0 * RandomNormal(40, 1, 5).array()).exp();
  for (const double scale : {1e-150, 1.0, 1e150}) {
    const Matrix a = scale * (half * half.transpose()), scaled = scales.asDiagonal() * a * scales.asDiagonal();
    for (const Matrix& matrix : {a, scaled}) {
      PivotedCholesky cholesky(matrix);
      cholesky.GrowTo(0, 40);
      EXPECT_EQ(cholesky.rank(), 6);
    }
  }
}

TEST(PivotedCholeskyTest, DuplicatesAreChosenOnceAndTiesGoToTheLowestIndex) {
  const Matrix a = (Matrix(4, 4) << 2, 2, 0, 0, 2, 2, 0, 0, 0, 0, 2, 2, 0, 0, 2, 2).finished();
  PivotedCholesky cholesky(a);
  cholesky.GrowTo(0, 4);
  EXPECT_EQ(cholesky.pivots(), (std::vector<int>{0, 2}));
}

TEST(PivotedCholeskyTest, ContradictionsAreNotTakenForRank) {
  const Matrix half = RandomNormal(60, 6, 6), noise = RandomNormal(60, 60, 7);
  const Matrix a = half * half.transpose() + 1e-6 * (noise + noise.transpose());
  PivotedCholesky cholesky(a);
  cholesky.GrowTo(0, 60);
  EXPECT_LT(cholesky.rank(), 20);
  EXPECT_GE(cholesky.rest().minCoeff(), 0);
  EXPECT_TRUE(Near(cholesky.factor() * cholesky.factor().transpose(), a, 3e-5));
}

TEST(PivotedCholeskyTest, ZeroHasNoColumns) {
  const Matrix zero = Matrix::Zero(3, 3), empty(0, 0);
  EXPECT_FALSE(PivotedCholesky(zero).Grow());
  EXPECT_FALSE(PivotedCholesky(empty).Grow());
}

}  // namespace
}  // namespace fidelio
