#include "core/base/sobol.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/sobol_sequence.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

Matrix UnitPoints(int n, int d, uint64_t seed) {
  return ScrambledSobol(n, Vector::Zero(d), Vector::Ones(d), seed).value();
}

// Values of other implementations of the same direction numbers, not scrambled.
TEST(SobolTest, DigitsAreThoseOfJoeAndKuo) {
  const std::vector<SobolColumns> directions = SobolDirections(256);
  const std::vector<std::pair<int, uint32_t>> point_777 = {{0, 2973761536},  {1, 4022337536},   {2, 700448768},
                                                           {63, 1832910848}, {128, 2940207104}, {255, 2730491904}};
  for (const auto& [dimension, digits] : point_777) {
    EXPECT_EQ(SobolDigits(1024, directions[dimension])[777], digits) << dimension;
  }
}

TEST(SobolTest, EveryCellOfEveryAxisHoldsOnePoint) {
  constexpr int kPoints = 256;
  const Matrix x = UnitPoints(kPoints, kMostSobolDimensions, 7);
  for (int j = 0; j < x.cols(); ++j) {
    std::vector<int> count(kPoints);
    for (int i = 0; i < kPoints; ++i) ++count[static_cast<int>(std::floor(x(i, j) * kPoints))];
    for (const int c : count) ASSERT_EQ(c, 1) << "dimension " << j;
  }
}

TEST(SobolTest, EverySquareOfTheFirstTwoDimensionsHoldsOnePoint) {
  const Matrix x = UnitPoints(256, 2, 3);
  Matrix count = Matrix::Zero(16, 16);
  for (int i = 0; i < 256; ++i) ++count(static_cast<int>(x(i, 0) * 16), static_cast<int>(x(i, 1) * 16));
  EXPECT_EQ(count, Matrix::Ones(16, 16));
}

TEST(SobolTest, MeansOverSeedsAreThoseOfUniformPoints) {
  Vector mean = Vector::Zero(3), square = Vector::Zero(3);
  constexpr int kSeeds = 2000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Vector first = UnitPoints(1, 3, seed).row(0);
    mean += first / kSeeds;
    square += first.cwiseAbs2() / kSeeds;
  }
  EXPECT_TRUE(Near(mean, Vector::Constant(3, 0.5), 4 * std::sqrt(1 / 12.0 / kSeeds)));
  EXPECT_TRUE(Near(square, Vector::Constant(3, 1 / 3.0), 4 * 0.3 / std::sqrt(kSeeds)));
}

TEST(SobolTest, IntegralsConvergeFasterThanWithRandomPoints) {
  double squared_error = 0;
  constexpr int kSeeds = 50, kPoints = 1024;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Matrix x = UnitPoints(kPoints, 4, seed);
    const double integral = (x.array() * 1.5 + 0.25).rowwise().prod().mean();
    squared_error += (integral - 1) * (integral - 1) / kSeeds;
  }
  const double variance = std::pow(1 + 1.5 * 1.5 / 12, 4) - 1;
  EXPECT_LT(squared_error, 1e-3 * variance / kPoints);
}

TEST(SobolTest, SeedsDiffer) { EXPECT_NE(UnitPoints(8, 2, 1), UnitPoints(8, 2, 2)); }

TEST(SobolTest, PointsAreTheSameOnEveryMachine) {
  const Matrix x = UnitPoints(1000, 3, 42);
  EXPECT_EQ(static_cast<uint32_t>(x(999, 0) * 0x1p32), 239490602u);
  EXPECT_EQ(static_cast<uint32_t>(x(999, 2) * 0x1p32), 114470691u);
}

TEST(SobolTest, MorePointsBeginWithFewer) { EXPECT_EQ(UnitPoints(100, 5, 9).topRows(37), UnitPoints(37, 5, 9)); }

TEST(SobolTest, PointsLieInTheBox) {
  const Vector lower = (Vector(3) << -1e308, 5, -1e-9).finished();
  const Vector upper = (Vector(3) << 1e308, 6, 1e-9).finished();
  const Matrix x = ScrambledSobol(500, lower, upper, 1).value();
  for (int i = 0; i < 500; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_GT(x(i, j), lower[j]);
      EXPECT_LT(x(i, j), upper[j]);
    }
  }
}

TEST(SobolTest, WrongArgumentsAreNamed) {
  const Vector zero = Vector::Zero(2), one = Vector::Ones(2);
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(ScrambledSobol(-1, zero, one, 0).status(), invalid, {"points: -1"}));
  EXPECT_TRUE(IsError(ScrambledSobol(1, zero, Vector::Ones(3), 0).status(), invalid, {"upper: 3 elements", "has 2"}));
  EXPECT_TRUE(IsError(ScrambledSobol(1, Vector::Zero(257), Vector::Ones(257), 0).status(), invalid, {"257", "256"}));
  EXPECT_TRUE(IsError(ScrambledSobol(1, Vector(0), Vector(0), 0).status(), invalid, {"0 dimensions"}));
  EXPECT_TRUE(IsError(ScrambledSobol(1, one, one, 0).status(), invalid, {"upper[0]: 1", "lower[0]"}));
  const Vector infinite = (Vector(2) << 1, std::numeric_limits<double>::infinity()).finished();
  EXPECT_TRUE(IsError(ScrambledSobol(1, zero, infinite, 0).status(), invalid, {"upper[1]: inf"}));
}

}  // namespace
}  // namespace fidelio
