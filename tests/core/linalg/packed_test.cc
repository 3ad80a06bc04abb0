#include "core/linalg/packed.h"

#include "gtest/gtest.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

TEST(PackPairsTest, TakesTheStrictLowerTriangleColumnByColumn) {
  const Matrix a{{1, -1, -1, -1}, {2, 3, -1, -1}, {4, 5, 6, -1}, {7, 8, 9, 10}};
  ArrayXd pairs;
  PackPairs(a, 0.5, pairs);
  const ArrayXd expected{{1, 2, 3.5, 2.5, 4, 4.5}};
  ASSERT_EQ(pairs.size(), 6);
  EXPECT_TRUE((pairs == expected).all());
}

TEST(UnpackTest, GivesBackWhatWasPacked) {
  for (const Index n : {0, 1, 2, 3, 17, 64}) {
    SCOPED_TRACE(n);
    const Matrix g = RandomNormal(n, n, 1);
    const Matrix a = g + g.transpose();
    const Vector diagonal = a.diagonal();
    ArrayXd pairs;
    PackPairs(a, 4, pairs);
    ASSERT_EQ(pairs.size(), n * (n - 1) / 2);
    Matrix lower = Matrix::Zero(n, n), symmetric = Matrix::Constant(n, n, 7);
    UnpackLower(pairs, diagonal, 0.25, lower);
    UnpackSymmetric(pairs, diagonal, 0.25, symmetric);
    EXPECT_EQ(lower, Matrix(a.triangularView<Eigen::Lower>()));
    EXPECT_EQ(symmetric, a);
  }
}

TEST(UnpackLowerTest, LeavesTheUpperTriangleAlone) {
  Matrix a = Matrix::Constant(5, 5, 7);
  UnpackLower(ArrayXd::Zero(10), Vector::Zero(5), 1, a);
  for (Index j = 0; j < 5; ++j) EXPECT_TRUE((a.col(j).head(j).array() == 7).all());
}

TEST(UnpackSymmetricTest, WritesIntoBlocks) {
  Matrix frame = Matrix::Constant(4, 5, 7);
  UnpackSymmetric(ArrayXd::Constant(1, 3), Vector{{1, 2}}, 2, frame.block(1, 2, 2, 2));
  const Matrix expected{{7, 7, 7, 7, 7}, {7, 7, 1, 6, 7}, {7, 7, 6, 2, 7}, {7, 7, 7, 7, 7}};
  EXPECT_EQ(frame, expected);
}

}  // namespace
}  // namespace fidelio
