#include "core/design/eigenvalue_subset.h"

#include <cmath>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/elementary_symmetric.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

void ExpectNaiveRatio(const Vector& log_values, int k) {
  const std::vector<double> e = NaiveLogPolynomials(log_values, k);
  EXPECT_NEAR(EigenvalueSubset(log_values, k).LogRatio(), e[k - 1] - e[k], 1e-12 * std::max(1.0, std::abs(e[k])));
}

TEST(EigenvalueSubsetTest, RatiosAreThoseOfTheTextbook) {
  const Vector log_values = RandomNormal(12, 1, 1);
  for (int k = 1; k < 12; ++k) ExpectNaiveRatio(log_values, k);
}

TEST(EigenvalueSubsetTest, HundredsOfEigenvaluesOver300OrdersOfMagnitudeDoNotOverflow) {
  const Vector even = Vector::LinSpaced(600, 345, -345);  // 1e150 … 1e-150
  for (const int k : {1, 50, 200, 400, 599}) ExpectNaiveRatio(even, k);
  Vector steps(600);
  steps << Vector::Constant(200, 345), Vector::Zero(200), Vector::Constant(200, -345);
  for (const int k : {199, 200, 201, 300, 400, 550}) ExpectNaiveRatio(steps, k);
}

TEST(EigenvalueSubsetTest, ScalingTheEigenvaluesChangesNoDraw) {
  const Vector log_values = RandomNormal(40, 1, 2);
  const EigenvalueSubset plain(log_values, 9), scaled(log_values.array() + 600, 9);
  EXPECT_NEAR(scaled.LogRatio(), plain.LogRatio() - 600, 1e-9);
  Random first(3, 0), second(3, 0);
  EXPECT_EQ(scaled.Draw(first), plain.Draw(second));
}

TEST(EigenvalueSubsetTest, AllAreChosenWhenAllAreWanted) {
  Random random(1, 0);
  const Vector log_values = Vector::LinSpaced(5, 200, -200);
  EXPECT_EQ(EigenvalueSubset(log_values, 5).Draw(random), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(EigenvalueSubsetTest, DrawsHaveTheProbabilitiesOfProducts) {
  const Vector log_values = 2 * RandomNormal(6, 1, 4);
  constexpr int kDraws = 60000;
  const EigenvalueSubset subset(log_values, 3);
  Random random(5, 0);
  std::map<std::vector<int>, int> counts;
  for (int draw = 0; draw < kDraws; ++draw) ++counts[subset.Draw(random)];
  const double normaliser = NaiveLogPolynomials(log_values, 3)[3];
  double chi_square = 0, total = 0;
  for (int a = 0; a < 6; ++a) {
    for (int b = a + 1; b < 6; ++b) {
      for (int c = b + 1; c < 6; ++c) {
        const double p = std::exp(log_values[a] + log_values[b] + log_values[c] - normaliser);
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
