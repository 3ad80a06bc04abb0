#include "tests/bench/plain_dpp.h"

#include <cmath>
#include <set>

#include "core/design/k_dpp.h"
#include "gtest/gtest.h"
#include "tests/support/elementary_symmetric.h"
#include "tests/support/random_matrix.h"

namespace fidelio::bench {
namespace {

TEST(PlainDppTest, IncludesCandidatesAsOftenAsTheMarginalsSay) {
  const KDpp dpp = KDpp::FromKernel(RandomPositiveDefinite(20, 1)).value();
  const Matrix log_elementary = LogElementarySymmetric(dpp.values(), 4);
  EXPECT_NEAR(log_elementary(4, 20), NaiveLogPolynomials(dpp.values().array().log(), 4)[4], 1e-10);
  constexpr int kDraws = 40000;
  Vector counts = Vector::Zero(20);
  Random random(2, 0);
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::vector<int> drawn = PlainDraw(dpp.values(), dpp.vectors(), log_elementary, 4, random);
    for (const int i : drawn) counts[i] += 1;
  }
  const Vector p = InclusionProbabilities(dpp.values(), dpp.vectors(), 4);
  EXPECT_LT(((counts / kDraws - p).array() / (p.array() / kDraws).sqrt()).abs().maxCoeff(), 4);
}

TEST(DenseLogDeterminantTest, IsThatOfTheEigenvalues) {
  const KDpp dpp = KDpp::FromKernel(RandomPositiveDefinite(20, 3)).value();
  EXPECT_NEAR(DenseLogDeterminant(RandomPositiveDefinite(20, 3)), dpp.values().array().log().sum(), 1e-12);
  EXPECT_TRUE(std::isnan(DenseLogDeterminant(-Matrix::Identity(2, 2))));
}

}  // namespace
}  // namespace fidelio::bench
