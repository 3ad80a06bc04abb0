#include "core/baseline/gauss_hermite.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

TEST(GaussHermiteTest, OneNodeIsTheMean) {
  const GaussHermite rule(1);
  EXPECT_EQ(rule.node[0], 0);
  EXPECT_EQ(rule.weight[0], 1);
}

TEST(GaussHermiteTest, IntegratesMomentsOfTheNormalExactly) {
  for (const int count : {2, 5, 9}) {
    const GaussHermite rule(count);
    double moment = 1;  // (2k−1)!!
    for (int power = 0; power < 2 * count; power += 2) {
      EXPECT_NEAR(rule.weight.dot(rule.node.array().pow(power).matrix()) / moment, 1, 1e-11) << count << " " << power;
      EXPECT_NEAR(rule.weight.dot(rule.node.array().pow(power + 1).matrix()) / moment, 0, 1e-9);
      moment *= power + 1;
    }
  }
}

TEST(GaussHermiteTest, PolynomialsAreOrthonormal) {
  const GaussHermite rule(9);
  EXPECT_TRUE(
      Near(rule.polynomial * rule.weight.asDiagonal() * rule.polynomial.transpose(), Matrix::Identity(9, 9), 1e-11));
}

}  // namespace
}  // namespace fidelio
