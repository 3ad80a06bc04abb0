#include "core/neighbour/neighbour_path.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/neighbour/stack_cases.h"
#include "tests/support/path_moments.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Points that have reached a level.
struct Stencils {
  Matrix columns;
  std::vector<std::vector<Stencil>> stencils;
  std::vector<ReachedPoint> points;

  Stencils(const NeighbourStack& stack, const Matrix& x, int level) : columns(x.transpose()), stencils(x.rows()) {
    for (Index i = 0; i < x.rows(); ++i) {
      stencils[i] = stack.Reach(columns.col(i).data(), level);
      points.push_back({columns.col(i).data(), stencils[i].data()});
    }
  }
};

// `count` functions of a level at points, a function per row.
Matrix Functions(const NeighbourStack& stack, int level, const Stencils& at, int count) {
  Matrix values(count, static_cast<Index>(at.points.size()));
  for (int k = 0; k < count; ++k) {
    Random random(21, 0, static_cast<uint32_t>(k));
    const NeighbourPath path(stack, level, random);
    for (size_t i = 0; i < at.points.size(); ++i) values(k, static_cast<Index>(i)) = path.At(at.points[i]);
  }
  return values;
}

// Two pairs of close points and one alone: some share all neighbours, some a few, some none.
Matrix Points() {
  Matrix x(5, 2);
  x << 0.2, 0.3, 0.21, 0.31, 0.8, 0.7, 0.75, 0.75, 0.5, 0.05;
  return x;
}

class NeighbourPathNoiseTest : public ::testing::TestWithParam<bool> {};

TEST_P(NeighbourPathNoiseTest, ManyHaveTheMomentsOfTheStack) {
  for (const KernelFamily kernel : {KernelFamily::kRbf, KernelFamily::kMatern32}) {
    for (int level = 0; level < 2; ++level) {
      SCOPED_TRACE(testing::Message() << "kernel " << static_cast<int>(kernel) << ", level " << level);
      const auto stack = MakeStack(StackData({60, 40}, 2, /*given_noise=*/GetParam()), level + 1, 6, kernel);
      const Stencils at(*stack, Points(), level);
      Vector mean(5);
      for (int i = 0; i < 5; ++i) mean[i] = at.points[i].at[level].mean;
      const Matrix covariance = stack->Covariance(level, at.points, at.points);
      ASSERT_GT(covariance(0, 1), 0.1 * covariance(0, 0));
      ASSERT_EQ(covariance(0, 2), 0);
      ExpectMoments(Functions(*stack, level, at, level == 0 ? 4000 : 1000), mean, covariance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Noise, NeighbourPathNoiseTest, ::testing::Bool(),
                         [](const auto& given) { return std::string(given.param ? "Given" : "Learned"); });

// With every observation a neighbour of every point, functions are those of the exact process: no jumps.
TEST(NeighbourPathTest, IsSmoothWhereTheNeighboursStayTheSame) {
  const auto stack = MakeStack(StackData({20}, 1), 1, 20, KernelFamily::kRbf);
  const Stencils at(*stack, Vector::LinSpaced(201, 0, 1), 0);
  const Matrix values = Functions(*stack, 0, at, 5);
  const Matrix second = values.rightCols(199) - 2 * values.middleCols(1, 199) + values.leftCols(199);
  EXPECT_LT(second.cwiseAbs().maxCoeff(), 0.01);
}

TEST(NeighbourPathTest, FunctionsAreNearlyGaussian) {
  const auto stack = MakeStack(StackData({60}, 2), 1, 6, KernelFamily::kRbf);
  const Stencils at(*stack, Points(), 0);
  const Matrix values = Functions(*stack, 0, at, 4000);
  for (int i = 0; i < 5; ++i) {
    const Eigen::ArrayXd z = (values.col(i).array() - values.col(i).mean());
    const double kurtosis = z.pow(4).mean() / std::pow(z.square().mean(), 2);
    EXPECT_GT(kurtosis, 2.6) << i;
    EXPECT_LT(kurtosis, 6) << i;
  }
}

}  // namespace
}  // namespace fidelio
