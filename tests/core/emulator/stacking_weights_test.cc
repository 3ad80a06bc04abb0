#include "core/emulator/stacking_weights.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

double Value(const Matrix& log_density, const Vector& weights) {
  return (weights.transpose() * log_density.array().exp().matrix()).array().log().sum();
}

TEST(StackingWeightsTest, AModelThatIsBetterEverywhereGetsAllWeight) {
  Matrix log_density = RandomNormal(2, 50, 1);
  log_density.row(1) = log_density.row(0).array() - 1;
  const Vector weights = StackingWeights(log_density);
  EXPECT_NEAR(weights[0], 1, 1e-4);
  EXPECT_NEAR(weights.sum(), 1, 1e-12);
}

TEST(StackingWeightsTest, ModelsThatAreGoodAtDifferentPlacesShareIt) {
  Matrix log_density(2, 100);
  for (int i = 0; i < 100; ++i) log_density.col(i) << (i < 75 ? 0.0 : -8.0), (i < 75 ? -8.0 : 0.0);
  const Vector weights = StackingWeights(log_density);
  EXPECT_NEAR(weights[0], 0.75, 0.01);
}

TEST(StackingWeightsTest, NoOtherWeightsAreBetter) {
  const Matrix log_density = RandomNormal(3, 200, 2);
  const Vector weights = StackingWeights(log_density);
  const double best = Value(log_density, weights);
  for (uint64_t seed = 1; seed < 40; ++seed) {
    Vector other = weights + 0.1 * RandomUniform(3, 1, seed);
    other /= other.sum();
    EXPECT_LT(Value(log_density, other), best + 1e-6);
  }
}

TEST(StackingWeightsTest, ImpossibleObservationsDoNoHarm) {
  Matrix log_density = RandomNormal(2, 20, 3);
  log_density.col(4).setConstant(-std::numeric_limits<double>::infinity());
  log_density(0, 5) = -std::numeric_limits<double>::infinity();
  const Vector weights = StackingWeights(log_density);
  EXPECT_TRUE(weights.allFinite());
  EXPECT_NEAR(weights.sum(), 1, 1e-12);
  EXPECT_GT(weights[1], 0);
}

TEST(StackingWeightsTest, OneModelHasAllWeight) { EXPECT_EQ(StackingWeights(RandomNormal(1, 10, 4)), Vector::Ones(1)); }

}  // namespace
}  // namespace fidelio
