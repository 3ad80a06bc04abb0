#include "core/kernel/quadratic_path.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

TEST(QuadraticPathTest, CovarianceOverPathsIsTheKernel) {
  constexpr int kPaths = 20000;
  constexpr double kCurvature = 0.5;
  const Matrix z = RandomNormal(4, 3, 5), p = z * z.transpose();
  Matrix values(4, kPaths);
  for (int i = 0; i < kPaths; ++i) {
    Random random(3, 0, static_cast<uint32_t>(i));
    values.col(i) = QuadraticPath(3, kCurvature, random).Evaluate(z);
  }
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const Eigen::ArrayXd products = values.row(i).cwiseProduct(values.row(j)).transpose();
      const double error = std::sqrt((products - products.mean()).square().mean() / kPaths);
      EXPECT_NEAR(products.mean(), p(i, j) + kCurvature * p(i, j) * p(i, j), 4.5 * error) << i << "," << j;
    }
  }
}

TEST(QuadraticPathTest, WithoutCurvatureItIsLinear) {
  const Matrix z = RandomNormal(5, 2, 6);
  Random random(4, 0);
  const QuadraticPath path(2, 0, random);
  EXPECT_TRUE(Near(path.Evaluate(-3 * z), -3 * path.Evaluate(z), 1e-14));
}

}  // namespace
}  // namespace fidelio
