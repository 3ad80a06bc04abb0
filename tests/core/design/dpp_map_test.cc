#include "core/design/dpp_map.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/random_matrix.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

absl::StatusOr<DppMap> MapOfKernel(const Matrix& kernel, int k) {
  return GreedyDppMap(
      kernel.diagonal(), [&](Index i, Eigen::Ref<Vector> column) { column = kernel.col(i); }, k);
}

// Tries every candidate at every step.
std::vector<int> NaiveGreedy(const Matrix& kernel, int k) {
  std::vector<int> chosen;
  for (int step = 0; step < k; ++step) {
    int best = -1;
    double best_determinant = 0;
    for (int i = 0; i < kernel.rows(); ++i) {
      std::vector<int> with = chosen;
      with.push_back(i);
      const double determinant = Matrix(kernel(with, with)).determinant();
      if (std::count(chosen.begin(), chosen.end(), i) == 0 && determinant > best_determinant) {
        best = i;
        best_determinant = determinant;
      }
    }
    chosen.push_back(best);
  }
  return chosen;
}

TEST(GreedyDppMapTest, EveryStepIsTheBestOne) {
  for (int seed = 0; seed < 20; ++seed) {
    const Vector quality = RandomUniform(30, 1, 100 + seed).array() + 0.2;
    const Matrix kernel = quality.asDiagonal() * RandomPositiveDefinite(30, seed) * quality.asDiagonal();
    const DppMap map = MapOfKernel(kernel, 12).value();
    EXPECT_EQ(map.indices, NaiveGreedy(kernel, 12));
    const double determinant = Matrix(kernel(map.indices, map.indices)).determinant();
    EXPECT_NEAR(map.log_determinant, std::log(determinant), 1e-10);
  }
}

TEST(GreedyDppMapTest, TiesGoToTheLowestIndex) {
  EXPECT_EQ(MapOfKernel(Matrix::Identity(5, 5), 3)->indices, (std::vector<int>{0, 1, 2}));
}

TEST(GreedyDppMapTest, ManyCandidatesNeedNoMatrix) {
  const Matrix x = RandomUniform(20000, 2, 2);
  int columns = 0;
  const auto column = [&](Index j, Eigen::Ref<Vector> to) {
    ++columns;
    to = (-0.5 * (x.rowwise() - x.row(j)).rowwise().squaredNorm().array() / 0.01).exp();
  };
  const DppMap map = GreedyDppMap(Vector::Ones(20000), column, 40).value();
  EXPECT_EQ(columns, 40);
  double nearest = 1;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < i; ++j) nearest = std::min(nearest, (x.row(map.indices[i]) - x.row(map.indices[j])).norm());
  }
  EXPECT_GT(nearest, 0.08);  // random points would have some at 0.01
}

TEST(GreedyDppMapTest, ImpossibleSizesAreRefusedWithTheRank) {
  const Matrix factor = RandomNormal(30, 4, 3), low = factor * factor.transpose();
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(MapOfKernel(low, 5).status(), invalid, {"k: 5", "30 candidates", "rank 4"}));
  EXPECT_TRUE(IsError(MapOfKernel(low, 0).status(), invalid, {"k: 0"}));
  Matrix kernel = Matrix::Identity(3, 3);
  kernel(1, 1) = -1;
  EXPECT_TRUE(IsError(MapOfKernel(kernel, 1).status(), invalid, {"kernel[1][1]: -1"}));
  kernel(1, 1) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(IsError(MapOfKernel(kernel, 1).status(), invalid, {"kernel[1][1]: inf"}));
}

}  // namespace
}  // namespace fidelio
