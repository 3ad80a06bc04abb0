#include "core/emulator/mixture.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "core/base/normal.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

// S components at n points; component means differ by many standard deviations at some of them.
Mixture Example(Index components, Index n) {
  Vector weight = RandomUniform(components, 1, 1).array() + 0.1;
  weight /= weight.sum();
  Matrix mean = RandomNormal(components, n, 2);
  for (Index i = 0; i < n; ++i) mean.col(i) *= std::pow(3.0, static_cast<double>(i));
  return {weight, mean, RandomUniform(components, n, 3).array() + 0.05};
}

double Density(const Mixture& m, Index i, double x) {
  double sum = 0;
  for (Index s = 0; s < m.weight.size(); ++s) {
    const double v = m.variance(s, i);
    sum += m.weight[s] * std::exp(-0.5 * std::pow(x - m.mean(s, i), 2) / v) / std::sqrt(2 * std::numbers::pi * v);
  }
  return sum;
}

double Cdf(const Mixture& m, Index i, double x) {
  double sum = 0;
  for (Index s = 0; s < m.weight.size(); ++s) {
    sum += m.weight[s] * NormalCdf((x - m.mean(s, i)) / std::sqrt(m.variance(s, i)));
  }
  return sum;
}

double BisectedQuantile(const Mixture& m, Index i, double p) {
  double low = -1e4, high = 1e4;
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    (Cdf(m, i, middle) < p ? low : high) = middle;
  }
  return low;
}

// ∫ x^power density dx, by the trapezoidal rule over everything that matters.
double Moment(const Mixture& m, Index i, int power, double centre) {
  const double low = m.mean.col(i).minCoeff() - 15, high = m.mean.col(i).maxCoeff() + 15, step = 1e-2;
  double sum = 0;
  for (double x = low; x <= high; x += step) sum += step * std::pow(x - centre, power) * Density(m, i, x);
  return sum;
}

class MixtureTest : public testing::TestWithParam<Index> {
 protected:
  static constexpr Index kPoints = 4;
  const Mixture mixture_ = Example(GetParam(), kPoints);
};

TEST_P(MixtureTest, MeanEqualsTheIntegral) {
  const Vector mean = MixtureMean(mixture_);
  ASSERT_EQ(mean.size(), kPoints);
  for (Index i = 0; i < kPoints; ++i) EXPECT_NEAR(mean[i], Moment(mixture_, i, 1, 0), 1e-9) << i;
}

TEST_P(MixtureTest, VarianceEqualsTheIntegral) {
  const Vector mean = MixtureMean(mixture_), variance = MixtureVariance(mixture_, mean);
  for (Index i = 0; i < kPoints; ++i) {
    EXPECT_NEAR(variance[i] / Moment(mixture_, i, 2, mean[i]), 1, 1e-9) << i;
  }
}

TEST_P(MixtureTest, LogDensityEqualsTheSum) {
  const Vector y{{-0.3, 1, 2, -5}};
  const Vector log_density = MixtureLogDensity(mixture_, y);
  for (Index i = 0; i < kPoints; ++i) {
    const double expected = std::log(Density(mixture_, i, y[i]));
    EXPECT_NEAR(log_density[i], expected, 1e-12 * (1 + std::abs(expected))) << i;
  }
}

TEST_P(MixtureTest, QuantilesEqualBisectionOfTheCdf) {
  const std::vector<double> probabilities = {1e-6, 0.025, 0.3, 0.5, 0.9, 0.975, 1 - 1e-6};
  const Matrix quantiles = MixtureQuantiles(mixture_, probabilities);
  ASSERT_EQ(quantiles.rows(), kPoints);
  ASSERT_EQ(quantiles.cols(), 7);
  for (Index i = 0; i < kPoints; ++i) {
    for (size_t k = 0; k < probabilities.size(); ++k) {
      EXPECT_NEAR(quantiles(i, static_cast<Index>(k)), BisectedQuantile(mixture_, i, probabilities[k]), 1e-9)
          << "point " << i << ", probability " << probabilities[k];
    }
  }
}

TEST_P(MixtureTest, MediansEqualBisectionOfTheCdf) {
  const Vector mean = MixtureMean(mixture_);
  const Medians medians = MixtureMedians(mixture_, mean);
  for (Index i = 0; i < kPoints; ++i) {
    const double sd = std::sqrt(MixtureVariance(mixture_, mean)[i]);
    EXPECT_NEAR(medians.median[i], BisectedQuantile(mixture_, i, 0.5), 1e-9 * sd) << i;
    EXPECT_NEAR(medians.mean_cdf[i], Cdf(mixture_, i, mean[i]), 1e-12) << i;
  }
}

TEST_P(MixtureTest, CdfEqualsTheSum) {
  for (const double x : {-30.0, -4.0, -0.2, 0.0, 1.0, 7.0}) {
    const Vector cdf = MixtureCdf(mixture_, Vector::Constant(kPoints, x));
    for (Index i = 0; i < kPoints; ++i) EXPECT_NEAR(cdf[i], Cdf(mixture_, i, x), 1e-12) << x;
  }
}

TEST_P(MixtureTest, SummariesOfObservationsHaveTheMedians) {
  const ObservedMixtures observed{.y = Vector::Zero(kPoints),
                                  .weight = mixture_.weight.replicate(1, kPoints),
                                  .mean = mixture_.mean,
                                  .variance = mixture_.variance};
  const LeaveOneOut summary = Summarise(observed);
  const Medians medians = MixtureMedians(mixture_, MixtureMean(mixture_));
  EXPECT_TRUE(Near(summary.median, medians.median, 1e-12));
  EXPECT_TRUE(Near(summary.mean_cdf, medians.mean_cdf, 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Components, MixtureTest, testing::Values(1, 2, 5, 80));

TEST(MixtureLimitTest, OneComponentIsAGaussian) {
  const Mixture m{Vector::Ones(1), Matrix::Constant(1, 1, 3), Matrix::Constant(1, 1, 4)};
  const Vector mean = MixtureMean(m);
  EXPECT_EQ(mean[0], 3);
  EXPECT_EQ(MixtureVariance(m, mean)[0], 4);
  EXPECT_NEAR(MixtureQuantiles(m, {0.975})(0, 0), 3 + 2 * 1.9599639845400542, 1e-12);
  EXPECT_NEAR(MixtureLogDensity(m, Vector::Constant(1, 5))[0], -0.5 * (std::log(4) + kLogTwoPi + 1), 1e-14);
}

TEST(MixtureLimitTest, LogDensityIsFiniteFarFromEveryComponent) {
  const Mixture m{Vector::Constant(2, 0.5), Matrix{{0.0}, {1.0}}, Matrix::Constant(2, 1, 1e-12)};
  EXPECT_NEAR(MixtureLogDensity(m, Vector::Constant(1, 10))[0] / (-0.5 * 81 / 1e-12), 1, 1e-9);
}

TEST(MixtureLimitTest, QuantilesOfFarSeparatedNarrowComponentsFallOnTheRightOne) {
  const Mixture m{Vector{{0.25, 0.75}}, Matrix{{-1e6}, {1e6}}, Matrix::Constant(2, 1, 1e-6)};
  const Matrix quantiles = MixtureQuantiles(m, {0.125, 0.625});  // the medians of the two
  EXPECT_NEAR(quantiles(0, 0), -1e6, 1e-6);
  EXPECT_NEAR(quantiles(0, 1), 1e6, 1e-6);
}

TEST(MixtureLimitTest, QuantilesOfComponentsOfVeryDifferentWidthsInvertTheCdf) {
  const Mixture m{Vector{{0.5, 0.5}}, Matrix{{0.0}, {0.1}}, Matrix{{1e-10}, {1e4}}};
  const std::vector<double> probabilities = {0.05, 0.4, 0.6, 0.95};
  const Matrix quantiles = MixtureQuantiles(m, probabilities);
  for (Index k = 0; k < 4; ++k) EXPECT_NEAR(Cdf(m, 0, quantiles(0, k)), probabilities[k], 1e-5) << k;
}

TEST(MixtureLimitTest, MediansOfSeparateOrVeryDifferentComponentsAreThoseOfTheCdf) {
  const Mixture far{Vector{{0.25, 0.75}}, Matrix{{-1e6}, {1e6}}, Matrix::Constant(2, 1, 1e-6)};
  EXPECT_NEAR(MixtureMedians(far, MixtureMean(far)).median[0], MixtureQuantiles(far, {0.5})(0, 0), 1e-6);
  EXPECT_NEAR(MixtureMedians(far, MixtureMean(far)).mean_cdf[0], 0.25, 1e-12);
  const Mixture spike{Vector{{0.3, 0.7}}, Matrix{{0.0}, {0.1}}, Matrix{{1e-10}, {1e4}}};
  EXPECT_NEAR(Cdf(spike, 0, MixtureMedians(spike, MixtureMean(spike)).median[0]), 0.5, 1e-9);
  const Mixture same{Vector{{0.5, 0.5}}, Matrix{{2.0}, {2.0}}, Matrix{{1.0}, {9.0}}};
  EXPECT_EQ(MixtureMedians(same, MixtureMean(same)).median[0], 2);
}

TEST(MixtureLimitTest, QuantilesFollowTheUnit) {
  for (const double unit : {1e-12, 1e12}) {
    const Mixture m = Example(5, 1);
    const Mixture scaled{m.weight, unit * m.mean, unit * unit * m.variance};
    EXPECT_TRUE(Near(MixtureQuantiles(scaled, {0.1, 0.7}) / unit, MixtureQuantiles(m, {0.1, 0.7}), 1e-11));
  }
}

TEST(MixtureLimitTest, NoPointsAndNoQuantilesGiveEmptyResults) {
  const Mixture m{Vector::Ones(1), Matrix(1, 0), Matrix(1, 0)};
  EXPECT_EQ(MixtureMean(m).size(), 0);
  EXPECT_EQ(MixtureQuantiles(m, {0.5}).rows(), 0);
  EXPECT_EQ(MixtureLogDensity(m, Vector()).size(), 0);
  EXPECT_EQ(MixtureQuantiles(Example(2, 3), {}).cols(), 0);
}

}  // namespace
}  // namespace fidelio
