#include "core/base/random.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

using Block = std::array<uint32_t, 4>;
using Key = std::array<uint32_t, 2>;

// From the known-answer tests of the Random123 distribution.
TEST(PhiloxTest, GivesTheKnownAnswers) {
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomTest, NextBitsAreTheBlocksOfThePhiloxCounter) {
  const uint64_t seed = 0x0123456789abcdef;
  const uint32_t stream = 5, position = 9;
  Random random(seed, stream, position);
  const Key key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (uint32_t i = 0; i < 3; ++i) {
    const Block block = Philox({i, 0, position, stream}, key);
    EXPECT_EQ(random.NextBits(), (uint64_t{block[1]} << 32) | block[0]);
    EXPECT_EQ(random.NextBits(), (uint64_t{block[3]} << 32) | block[2]);
  }
}

TEST(RandomTest, TheSameNameGivesTheSameNumbers) {
  Random a(7, 1, 2), b(7, 1, 2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.NextBits(), b.NextBits());
}

TEST(RandomTest, SeedStreamAndPositionEachGiveOtherNumbers) {
  const auto first = [](uint64_t seed, uint32_t stream, uint32_t position) {
    return Random(seed, stream, position).NextBits();
  };
  const uint64_t base = first(7, 1, 2);
  EXPECT_NE(base, first(8, 1, 2));
  EXPECT_NE(base, first(7 + (uint64_t{1} << 32), 1, 2));
  EXPECT_NE(base, first(7, 2, 2));
  EXPECT_NE(base, first(7, 1, 3));
}

TEST(RandomTest, StreamsAreUncorrelated) {
  Random a(3, 0), b(3, 1);
  const int n = 100000;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a.Normal() * b.Normal();
  EXPECT_LT(std::abs(sum / std::sqrt(n)), 5);
}

TEST(RandomTest, UniformsLieStrictlyBetweenZeroAndOneAndFillTheInterval) {
  Random random(11, 0);
  const int n = 200000, cells = 100;
  std::vector<int> counts(cells);
  for (int i = 0; i < n; ++i) {
    const double u = random.Uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    ++counts[static_cast<int>(u * cells)];
  }
  double chi2 = 0;
  for (const int count : counts) chi2 += std::pow(count - n / cells, 2) / (n / cells);
  EXPECT_LT(std::abs(chi2 - (cells - 1)) / std::sqrt(2.0 * (cells - 1)), 5);
}

TEST(RandomTest, NoBitsGiveZeroOrOne) {
  EXPECT_GT(OpenUniform(0), 0);
  EXPECT_LT(OpenUniform(~uint64_t{0}), 1);
  EXPECT_EQ(OpenUniform(uint64_t{1} << 63), 0.5);
}

TEST(RandomTest, NormalsHaveTheMomentsOfTheStandardNormal) {
  Random random(5, 3);
  const int n = 200000;
  double sum[5] = {};
  for (int i = 0; i < n; ++i) {
    const double x = random.Normal();
    for (int k = 1; k <= 4; ++k) sum[k] += std::pow(x, k) / n;
  }
  const double root = std::sqrt(static_cast<double>(n));
  EXPECT_LT(std::abs(sum[1]), 5 / root);                        // Var x = 1
  EXPECT_LT(std::abs(sum[2] - 1), 5 * std::sqrt(2.0) / root);   // Var x² = 2
  EXPECT_LT(std::abs(sum[3]), 5 * std::sqrt(15.0) / root);      // Var x³ = 15
  EXPECT_LT(std::abs(sum[4] - 3), 5 * std::sqrt(96.0) / root);  // Var x⁴ = 96
}

TEST(RandomTest, ANormalVectorIsSuccessiveNormals) {
  Random a(2, 4), b(2, 4);
  const Vector v = a.NormalVector(9);
  ASSERT_EQ(v.size(), 9);
  for (const double x : v) EXPECT_EQ(x, b.Normal());
  EXPECT_EQ(a.NextBits(), b.NextBits());
}

}  // namespace
}  // namespace fidelio
