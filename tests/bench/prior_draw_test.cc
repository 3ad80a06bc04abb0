#include "tests/bench/prior_draw.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace fidelio::bench {
namespace {

// P(parameter ≤ x) by the trapezoidal rule on the normalised density, from far below.
double CdfOf(const Prior& prior, double x) {
  constexpr int kSteps = 400000;
  const double begin = prior.centre - 400 * prior.scale, step = (x - begin) / kSteps;
  double sum = 0, unused = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double p = std::exp(prior.LogNormaliser() - prior.NegativeLog(begin + i * step, &unused)) / prior.scale;
    sum += (i == 0 || i == kSteps ? 0.5 : 1) * p;
  }
  return sum * step;
}

class PriorKindTest : public testing::TestWithParam<Prior> {};

TEST_P(PriorKindTest, FollowsTheDensityOfTheLogPosterior) {
  const Prior prior = GetParam();
  Random random(1, 0);
  constexpr int kDraws = 20000;
  std::vector<double> draws(kDraws);
  for (double& draw : draws) draw = DrawFrom(prior, random);
  std::sort(draws.begin(), draws.end());
  for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95}) {
    EXPECT_NEAR(CdfOf(prior, draws[static_cast<size_t>(share * kDraws)]), share, 0.012) << share;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, PriorKindTest,
                         testing::Values(Prior::Normal(1, 2), Prior::Student(-3, 1.5, 3), Prior::Student(0.5, 0.6, 4),
                                         Prior::InverseGamma(0.2, 1.5, 0.5), Prior::InverseGamma(-1, 0.7, 2.5)));

TEST(PriorDrawTest, FillsEveryBlockOfALayout) {
  ParameterLayout layout;
  layout.Add("a", 2, Prior::Normal(100, 1e-3));
  layout.Add("b", 1, Prior::Normal(-100, 1e-3));
  Random random(1, 0);
  const Vector theta = DrawFrom(layout, random);
  EXPECT_NEAR(theta[0], 100, 0.01);
  EXPECT_NE(theta[0], theta[1]);
  EXPECT_NEAR(theta[2], -100, 0.01);
}

TEST(GammaDrawTest, HasTheMeanAndVarianceOfItsShape) {
  for (const double shape : {0.5, 1.5, 4.0}) {
    Random random(3, 0);
    double sum = 0, squares = 0;
    constexpr int kDraws = 40000;
    for (int i = 0; i < kDraws; ++i) {
      const double g = DrawGamma(shape, random);
      sum += g;
      squares += (g - shape) * (g - shape);
    }
    EXPECT_NEAR(sum / kDraws, shape, 4 * std::sqrt(shape / kDraws));
    EXPECT_NEAR(squares / kDraws / shape, 1, 0.08);
  }
}

}  // namespace
}  // namespace fidelio::bench
