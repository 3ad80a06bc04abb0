#include "core/base/normal_quadrature.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

TEST(NormalQuadratureTest, IntegratesPolynomialsUpToTwiceItsSizeExactly) {
  for (const int n : {1, 2, 5, 9}) {
    const NormalQuadrature rule(n);
    double moment = 1;  // E[ξ^k] = (k−1)!!
    for (int k = 0; k < 2 * n; ++k) {
      if (k > 0 && k % 2 == 0) moment *= k - 1;
      EXPECT_NEAR(rule.weight.dot(Vector(rule.node.array().pow(k))), k % 2 == 0 ? moment : 0, 1e-9 * moment)
          << n << " nodes, degree " << k;
    }
  }
}

TEST(NormalQuadratureTest, AnOddRuleHasItsMiddleNodeAtZero) {
  EXPECT_EQ(NormalQuadrature(9).node[4], 0.0);
  EXPECT_EQ(NormalQuadrature(9).node[0], -NormalQuadrature(9).node[8]);
}

TEST(NormalQuadratureTest, HermitePolynomialsAreOrthonormal) {
  const NormalQuadrature rule(9);
  const Matrix h = HermitePolynomials(rule.node);
  EXPECT_TRUE(Near(h * rule.weight.asDiagonal() * h.transpose(), Matrix::Identity(9, 9), 1e-11));
}

}  // namespace
}  // namespace fidelio
