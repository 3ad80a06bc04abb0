#include "tests/support/problems/design.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

const Problem& Get(const char* name) { return **FindProblem(name); }

TEST(LatinHypercubeTest, EveryCellOfEveryAxisIsUsedOnce) {
  const Vector lower{{-1, 10, 0}};
  const Vector upper{{1, 20, 0.5}};
  for (const CellPosition position : {CellPosition::kCentre, CellPosition::kUniform}) {
    const int n = 17;
    const Matrix x = LatinHypercube(n, lower, upper, position, 7);
    for (int j = 0; j < 3; ++j) {
      std::vector<int> cells;
      for (int i = 0; i < n; ++i) {
        const double unit = (x(i, j) - lower[j]) / (upper[j] - lower[j]);
        cells.push_back(static_cast<int>(std::floor(unit * n)));
        if (position == CellPosition::kCentre) {
          EXPECT_NEAR(unit * n - cells.back(), 0.5, 1e-9);
        }
      }
      std::sort(cells.begin(), cells.end());
      for (int i = 0; i < n; ++i) EXPECT_EQ(cells[i], i);
    }
  }
}

TEST(LatinHypercubeTest, TheSameSeedGivesTheSameDesignAndAnotherSeedAnother) {
  const Vector lower = Vector::Zero(2);
  const Vector upper = Vector::Ones(2);
  const Matrix a = LatinHypercube(20, lower, upper, CellPosition::kCentre, 1);
  EXPECT_EQ(a, LatinHypercube(20, lower, upper, CellPosition::kCentre, 1));
  EXPECT_NE(a, LatinHypercube(20, lower, upper, CellPosition::kCentre, 2));
}

// Pinned, so that results stay comparable between platforms and versions.
TEST(LatinHypercubeTest, IsPinned) {
  const Matrix x = LatinHypercube(4, Vector::Zero(2), Vector::Ones(2), CellPosition::kCentre, 43);
  const Matrix expected{{0.375, 0.875}, {0.875, 0.125}, {0.125, 0.625}, {0.625, 0.375}};
  EXPECT_EQ(x, expected);
}

TEST(MakeDatasetTest, HoldsTheFunctionAtTheSizesAskedFor) {
  const Problem& problem = Get("branin");
  const absl::StatusOr<Dataset> data = MakeDataset(problem, {8, 0, 3}, 5);
  ASSERT_TRUE(data.ok()) << data.status();
  ASSERT_EQ(data->levels.size(), 3u);
  EXPECT_EQ(data->levels[1].x.rows(), 0);
  EXPECT_EQ(data->levels[1].x.cols(), 2);
  for (int t : {0, 2}) {
    for (int i = 0; i < data->levels[t].y.size(); ++i) {
      EXPECT_EQ(data->levels[t].y[i], problem.function(t, data->levels[t].x.row(i).transpose()));
    }
  }
}

TEST(MakeDatasetTest, LevelsProblemsAndSeedsHaveDifferentDesigns) {
  const Dataset a = *MakeDataset(Get("currin"), {10, 10}, 1);
  const Dataset b = *MakeDataset(Get("currin_paper"), {10, 10}, 1);
  const Dataset c = *MakeDataset(Get("currin"), {10, 10}, 2);
  EXPECT_NE(a.levels[0].x, a.levels[1].x);
  EXPECT_NE(a.levels[0].x, b.levels[0].x);
  EXPECT_NE(a.levels[0].x, c.levels[0].x);
}

TEST(MakeDatasetTest, OneDimensionalDesignsDependOnTheSeed) {
  const Dataset a = *MakeDataset(Get("forrester"), {10, 5}, 1);
  const Dataset b = *MakeDataset(Get("forrester"), {10, 5}, 2);
  std::vector<double> first(a.levels[0].x.data(), a.levels[0].x.data() + 10);
  std::vector<double> second(b.levels[0].x.data(), b.levels[0].x.data() + 10);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_NE(first, second);
}

TEST(MakeDatasetTest, NoiseHasTheSizeThatTheProblemSays) {
  const Problem& problem = Get("forrester_noisy");
  const int n = 4000;
  const Dataset data = *MakeDataset(problem, {n, n}, 3);
  for (int t : {0, 1}) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += std::pow(data.levels[t].y[i] - problem.function(t, data.levels[t].x.row(i).transpose()), 2);
    }
    EXPECT_NEAR(std::sqrt(sum / n), problem.noises[t].sd, 0.05 * problem.noises[t].sd);
  }
}

TEST(MakeDatasetTest, WrongSizesAreNamed) {
  const absl::Status few = MakeDataset(Get("branin"), {8, 3}, 5).status();
  EXPECT_EQ(few.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(few.message(), "sizes: 2 entries, but problem \"branin\" has 3 levels");
  const absl::Status negative = MakeDataset(Get("branin"), {8, -1, 3}, 5).status();
  EXPECT_EQ(negative.message(), "sizes[1]: -1, must be at least 0");
}

TEST(MakeTestSetTest, IsNoiseFreeAtTheHighestLevel) {
  const Problem& problem = Get("borehole");
  const absl::StatusOr<LevelData> test = MakeTestSet(problem, 50, 9);
  ASSERT_TRUE(test.ok()) << test.status();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(test->y[i], problem.function(1, test->x.row(i).transpose()));
  EXPECT_EQ(MakeTestSet(problem, 0, 9).status().message(), "test points: 0, must be at least 1");
}

}  // namespace
}  // namespace fidelio
