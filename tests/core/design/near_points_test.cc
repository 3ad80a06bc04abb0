#include "core/design/near_points.h"

#include <vector>

#include "gtest/gtest.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

bool NaivelyNear(const Eigen::RowVectorXd& x, const Eigen::RowVectorXd& y, const Eigen::RowVectorXd& range,
                 double tolerance) {
  return ((x - y).cwiseAbs().array() <= tolerance * range.array()).all();
}

TEST(FindNearPointsTest, FindsWhatComparingAllPairsFinds) {
  for (const double tolerance : {0.0, 1e-9, 0.01, 0.2}) {
    Matrix points = RandomUniform(300, 3, 1);
    points.col(1) *= 1e6;
    points.middleRows(200, 20) = points.topRows(20);
    Matrix excluded = RandomUniform(30, 3, 2);
    excluded.col(1) *= 1e6;
    excluded.topRows(5) = points.middleRows(10, 5);
    const std::vector<Kept> kept = FindNearPoints(points, excluded, tolerance);
    const Eigen::RowVectorXd range = points.colwise().maxCoeff() - points.colwise().minCoeff();
    for (int i = 0; i < 300; ++i) {
      Kept expected = Kept::kYes;
      for (int j = 0; j < i; ++j) {
        if (kept[j] == Kept::kYes && NaivelyNear(points.row(i), points.row(j), range, tolerance))
          expected = Kept::kCopy;
      }
      for (int j = 0; j < 30; ++j) {
        if (NaivelyNear(points.row(i), excluded.row(j), range, tolerance)) expected = Kept::kExcluded;
      }
      EXPECT_EQ(kept[i], expected) << i;
    }
  }
}

TEST(FindNearPointsTest, APointAloneIsKept) {
  EXPECT_EQ(FindNearPoints(Matrix::Ones(1, 2), Matrix(0, 0), 1e-9), std::vector<Kept>{Kept::kYes});
  EXPECT_EQ(FindNearPoints(Matrix::Ones(1, 2), Matrix::Ones(1, 2), 1e-9), std::vector<Kept>{Kept::kExcluded});
  EXPECT_TRUE(FindNearPoints(Matrix(0, 2), Matrix(0, 2), 1e-9).empty());
}

}  // namespace
}  // namespace fidelio
