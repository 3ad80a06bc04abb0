#include "core/neighbour/neighbour_index.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

std::vector<int> NearestByAllDistances(const Matrix& points, const Vector& query, int k, int excluded) {
  std::vector<std::pair<double, int>> all;
  for (int i = 0; i < points.cols(); ++i) {
    if (i != excluded) all.emplace_back((points.col(i) - query).squaredNorm(), i);
  }
  std::sort(all.begin(), all.end());
  all.resize(std::min<size_t>(all.size(), k));
  std::vector<int> nearest;
  for (const auto& [distance, i] : all) nearest.push_back(i);
  std::sort(nearest.begin(), nearest.end());
  return nearest;
}

class NeighbourIndexTest : public ::testing::TestWithParam<int> {};

TEST_P(NeighbourIndexTest, FindsWhatAllDistancesFind) {
  const int d = GetParam();
  const Matrix points = RandomUniform(d, 500, 1);
  const NeighbourIndex index(points);
  const Matrix queries = RandomUniform(d, 20, 2);
  for (int i = 0; i < queries.cols(); ++i) {
    EXPECT_EQ(index.Nearest(queries.col(i).data(), 12), NearestByAllDistances(points, queries.col(i), 12, -1));
    const NeighbourIndex::Others others = index.NearestOthers(i, 12);
    EXPECT_EQ(others.nearest, NearestByAllDistances(points, points.col(i), 12, i));
    EXPECT_EQ(others.copies, std::vector<int>{i});
  }
}

INSTANTIATE_TEST_SUITE_P(Dimensions, NeighbourIndexTest, ::testing::Values(1, 2, 3, 8));

TEST(NeighbourIndexTest, FewerPointsThanAskedForAreAllThereIs) {
  const NeighbourIndex index(RandomUniform(2, 3, 1));
  const Vector query = Vector::Zero(2);
  EXPECT_EQ(index.Nearest(query.data(), 10), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(index.NearestOthers(1, 10).nearest, (std::vector<int>{0, 2}));
}

TEST(NeighbourIndexTest, NoPointsHaveNoNeighbours) {
  const NeighbourIndex index(Matrix(2, 0));
  const Vector query = Vector::Zero(2);
  EXPECT_TRUE(index.Nearest(query.data(), 4).empty());
}

TEST(NeighbourIndexTest, CopiesOfAPointAreNotItsNeighbours) {
  Matrix points = RandomUniform(2, 120, 3);
  for (int i = 0; i < 120; i += 2) points.col(i).setConstant(0.5);  // 60 copies, more than are asked for at first
  const NeighbourIndex index(points);
  Matrix others(2, 60);
  for (int i = 0; i < 60; ++i) others.col(i) = points.col(2 * i + 1);
  std::vector<int> expected = NearestByAllDistances(others, Vector::Constant(2, 0.5), 8, -1);
  for (int& i : expected) i = 2 * i + 1;
  for (const int of : {0, 24, 118}) {
    const NeighbourIndex::Others found = index.NearestOthers(of, 8);
    EXPECT_EQ(found.nearest, expected);
    EXPECT_EQ(found.copies.size(), 60u);
  }
  EXPECT_TRUE(NeighbourIndex(Matrix::Constant(2, 50, 0.5)).NearestOthers(3, 8).nearest.empty());
}

}  // namespace
}  // namespace fidelio
