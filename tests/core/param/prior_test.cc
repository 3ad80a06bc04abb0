#include "core/param/prior.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

struct Named {
  const char* name;
  Prior prior;
};

double NegativeLog(const Prior& prior, double x) {
  double slope = 0;
  return prior.NegativeLog(x, &slope);
}

double Slope(const Prior& prior, double x) {
  double slope = 0;
  prior.NegativeLog(x, &slope);
  return slope;
}

// What every kind of prior owes its callers.
class PriorContractTest : public testing::TestWithParam<Named> {
 protected:
  const Prior prior_ = GetParam().prior;
};

TEST_P(PriorContractTest, SlopeEqualsCentralDifferences) {
  for (double z = -6; z <= 6; z += 0.37) {
    const double x = prior_.centre + z * prior_.scale, h = 1e-4;
    const double difference = (8 * (NegativeLog(prior_, x + h) - NegativeLog(prior_, x - h)) -
                               (NegativeLog(prior_, x + 2 * h) - NegativeLog(prior_, x - 2 * h))) /
                              (12 * h);
    EXPECT_NEAR(Slope(prior_, x), difference, 1e-6 * std::max(1e-3, std::abs(difference))) << x;
  }
}

TEST_P(PriorContractTest, SlopeIsAddedToWhatIsThere) {
  double slope = 10;
  prior_.NegativeLog(prior_.centre + 0.7, &slope);
  EXPECT_NEAR(slope, 10 + Slope(prior_, prior_.centre + 0.7), 1e-14);
}

TEST_P(PriorContractTest, CentreIsTheMode) {
  EXPECT_EQ(Slope(prior_, prior_.centre), 0);
  for (double z = -5; z <= 5; z += 0.5) {
    if (z != 0) {
      EXPECT_GT(NegativeLog(prior_, prior_.centre + z), NegativeLog(prior_, prior_.centre));
    }
  }
}

TEST_P(PriorContractTest, IsFiniteAndHasAFiniteSlopeFarFromTheCentre) {
  for (const double x : {-1e4, -300.0, 300.0, 1e4}) {
    EXPECT_TRUE(std::isfinite(NegativeLog(prior_, x))) << x;
    EXPECT_TRUE(std::isfinite(Slope(prior_, x))) << x;
  }
}

TEST_P(PriorContractTest, NormalisedDensityIntegratesToOneOverUnitsOfItsScale) {
  // x = centre + scale·sinh(t): the trapezoidal rule converges geometrically, heavy tails included.
  double integral = 0;
  const double step = 1e-3;
  for (double t = -14; t <= 14; t += step) {
    const double u = std::sinh(t);
    integral +=
        step * std::cosh(t) * std::exp(-NegativeLog(prior_, prior_.centre + prior_.scale * u) + prior_.LogNormaliser());
  }
  EXPECT_NEAR(integral, 1, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Kinds, PriorContractTest,
                         testing::Values(Named{"Normal", Prior::Normal(0.7, 1.5)},
                                         Named{"NarrowNormal", Prior::Normal(-4, 0.1)},
                                         Named{"Student", Prior::Student(-2, 2.2, 4)},
                                         Named{"StudentWithThinTails", Prior::Student(1, 0.6, 30)},
                                         Named{"InverseGamma", Prior::InverseGamma(0.2, 1.5, 0.5)},
                                         Named{"SharpInverseGamma", Prior::InverseGamma(-1, 0.8, 3)}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(PriorTest, NormalHasItsFormula) { EXPECT_DOUBLE_EQ(NegativeLog(Prior::Normal(1, 2), 4), 0.5 * 1.5 * 1.5); }

TEST(PriorTest, StudentHasItsFormula) {
  EXPECT_DOUBLE_EQ(NegativeLog(Prior::Student(1, 2, 4), 4), 2.5 * std::log(1 + 1.5 * 1.5 / 4));
}

TEST(PriorTest, InverseGammaHasItsFormula) {
  EXPECT_DOUBLE_EQ(NegativeLog(Prior::InverseGamma(1, 2, 0.5), 4), 0.5 * (3 + std::exp(-3.0)));
}

TEST(PriorTest, StudentWithManyDegreesOfFreedomIsTheNormal) {
  const Prior student = Prior::Student(0.5, 1.3, 1e9), normal = Prior::Normal(0.5, 1.3);
  for (double x = -4; x <= 5; x += 0.5) {
    EXPECT_NEAR(NegativeLog(student, x), NegativeLog(normal, x), 1e-6);
    EXPECT_NEAR(Slope(student, x), Slope(normal, x), 1e-6);
  }
  EXPECT_NEAR(student.LogNormaliser(), normal.LogNormaliser(), 1e-6);
}

TEST(PriorTest, StudentForgivesOutliersThatTheNormalDoesNot) {
  EXPECT_LT(NegativeLog(Prior::Student(0, 1, 4), 8), NegativeLog(Prior::Normal(0, 1), 8) / 3);
}

TEST(PriorTest, InverseGammaIsSharpBelowTheCentreAndLinearAbove) {
  const Prior prior = Prior::InverseGamma(0, 1, 0.5);
  EXPECT_GT(NegativeLog(prior, -4), 20);
  EXPECT_NEAR(Slope(prior, 20), 0.5, 1e-8);
}

}  // namespace
}  // namespace fidelio
