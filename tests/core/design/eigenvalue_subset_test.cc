#include "core/design/eigenvalue_subset.h"

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

// log e_0 … log e_k by the textbook recursion, in logarithms.
std::vector<double> NaiveLogPolynomials(const Vector& log_values, int k) {
  std::vector<double> e(k + 1, -std::numeric_limits<double>::infinity());
  e[0] = 0;
  for (const double log_value : log_values) {
    for (int j = k; j >= 1; --j) {
      const double add = e[j - 1] + log_value, high = std::max(e[j], add), low = std::min(e[j], add);
      e[j] = std::isinf(low) ? high : high + std::log1p(std::exp(low - high));
    }
  }
  return e;
}

Vector Without(const Vector& v, int i) {
  Vector rest(v.size() - 1);
  rest << v.head(i), v.tail(v.size() - 1 - i);
  return rest;
}

void ExpectNaiveFigures(const Vector& log_values, int k) {
  const EigenvalueSubset subset(log_values, k);
  const std::vector<double> e = NaiveLogPolynomials(log_values, k);
  const double tolerance = 1e-12 * std::max(1.0, std::abs(e[k]));
  EXPECT_NEAR(subset.LogPolynomial(), e[k], tolerance);
  EXPECT_NEAR(subset.LogRatio(), e[k - 1] - e[k], tolerance);
  const Vector probabilities = subset.Probabilities();
  EXPECT_NEAR(probabilities.sum(), k, 1e-10 * k);
  for (int i = 0; i < log_values.size(); i += 1 + static_cast<int>(log_values.size()) / 7) {
    const double without = NaiveLogPolynomials(Without(log_values, i), k)[k - 1];
    EXPECT_NEAR(probabilities[i], std::exp(log_values[i] + without - e[k]), 1e-9) << i;
  }
}

TEST(EigenvalueSubsetTest, FiguresAreThoseOfTheTextbook) {
  const Vector log_values = RandomNormal(12, 1, 1);
  for (int k = 1; k < 12; ++k) ExpectNaiveFigures(log_values, k);
}

TEST(EigenvalueSubsetTest, HundredsOfEigenvaluesOver300OrdersOfMagnitudeDoNotOverflow) {
  const Vector even = Vector::LinSpaced(600, 345, -345);  // 1e150 … 1e-150
  for (const int k : {1, 50, 200, 400, 599}) ExpectNaiveFigures(even, k);
  Vector steps(600);
  steps << Vector::Constant(200, 345), Vector::Zero(200), Vector::Constant(200, -345);
  for (const int k : {199, 200, 201, 300, 400, 550}) ExpectNaiveFigures(steps, k);
}

TEST(EigenvalueSubsetTest, ScalingTheEigenvaluesChangesNothingButTheNormaliser) {
  const Vector log_values = RandomNormal(40, 1, 2);
  const EigenvalueSubset plain(log_values, 9), scaled(log_values.array() + 600, 9);
  EXPECT_TRUE(Near(scaled.Probabilities(), plain.Probabilities(), 1e-12));
  EXPECT_NEAR(scaled.LogPolynomial(), plain.LogPolynomial() + 9 * 600, 1e-9);
  Random first(3, 0), second(3, 0);
  EXPECT_EQ(scaled.Draw(first), plain.Draw(second));
}

TEST(EigenvalueSubsetTest, AllAreChosenWhenAllAreWanted) {
  Random random(1, 0);
  const Vector log_values = Vector::LinSpaced(5, 200, -200);
  EXPECT_EQ(EigenvalueSubset(log_values, 5).Draw(random), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_NEAR(EigenvalueSubset(log_values, 5).LogPolynomial(), 0, 1e-10);
}

TEST(EigenvalueSubsetTest, DrawsHaveTheProbabilitiesOfProducts) {
  const Vector log_values = 2 * RandomNormal(6, 1, 4);
  constexpr int kDraws = 60000;
  const EigenvalueSubset subset(log_values, 3);
  Random random(5, 0);
  std::map<std::vector<int>, int> counts;
  for (int draw = 0; draw < kDraws; ++draw) ++counts[subset.Draw(random)];
  double chi_square = 0, total = 0;
  for (int a = 0; a < 6; ++a) {
    for (int b = a + 1; b < 6; ++b) {
      for (int c = b + 1; c < 6; ++c) {
        const double p = std::exp(log_values[a] + log_values[b] + log_values[c] - subset.LogPolynomial());
        chi_square += std::pow(counts[{a, b, c}] - kDraws * p, 2) / (kDraws * p);
        total += p;
      }
    }
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom: exceeded by one seed in a thousand
}

}  // namespace
}  // namespace fidelio
