#include "core/kernel/link_kernel.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <utility>

#include "core/base/random.h"
#include "core/linalg/packed.h"
#include "gtest/gtest.h"
#include "tests/support/function_objective.h"
#include "tests/support/gradient_check.h"
#include "tests/support/naive_kernel.h"
#include "tests/support/naive_link.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

constexpr LinkScalars kScalars{
    .terms = {.linear = {0.4}, .nonlinear = {0.7, 0.5}}, .delta = 0.3, .rho = -0.8, .trend = 0.2};

ArrayXd Packed(const Matrix& a) {
  ArrayXd pairs;
  PackPairs(a, 1, pairs);
  return pairs;
}

// A Gaussian f_{t−1} over R points, and the kernels over x there.
struct Points {
  Matrix rho, delta, trend, c;
  Vector m;

  explicit Points(Index n) {
    const Matrix x = RandomUniform(n, 2, 1);
    rho = NaiveKernelMatrix(KernelFamily::kRbf, x, x, Vector::Constant(2, 1.5));
    delta = NaiveKernelMatrix(KernelFamily::kMatern52, x, x, Vector::Constant(2, 0.4));
    trend = (x.array() - 0.5).matrix() * (x.array() - 0.5).matrix().transpose();
    c = RandomPositiveDefinite(n, 2);
    m = RandomNormal(n, 1, 3);
  }

  LinkInputs inputs() const { return {Packed(rho), Packed(delta), Packed(trend)}; }
};

Matrix Forward(const LinkScalars& scalars, const Points& p) {
  LinkKernel kernel;
  kernel.Forward(scalars, p.inputs(), p.trend.diagonal(), p.m, p.c.diagonal(), Packed(p.c));
  Matrix k(p.m.size(), p.m.size());
  UnpackSymmetric(kernel.pairs(), kernel.diagonal(), 1, k);
  return k;
}

class LinkKernelTest : public testing::TestWithParam<Index> {
 protected:
  const Points p_{GetParam()};
};

TEST_P(LinkKernelTest, EqualsItsFormulaElementwise) {
  EXPECT_TRUE(Near(Forward(kScalars, p_), NaiveLinkMatrix(kScalars, p_.rho, p_.delta, p_.trend, p_.m, p_.c), 1e-12));
}

TEST_P(LinkKernelTest, WithoutTrendTheTrendInputsMayBeEmpty) {
  LinkScalars scalars = kScalars;
  scalars.trend = 0;
  LinkInputs inputs = p_.inputs();
  inputs.trend.resize(0);
  LinkKernel kernel;
  kernel.Forward(scalars, inputs, Vector(), p_.m, p_.c.diagonal(), Packed(p_.c));
  Matrix k(p_.m.size(), p_.m.size());
  UnpackSymmetric(kernel.pairs(), kernel.diagonal(), 1, k);
  EXPECT_TRUE(Near(k, NaiveLinkMatrix(scalars, p_.rho, p_.delta, p_.trend, p_.m, p_.c), 1e-12));
}

TEST_P(LinkKernelTest, CrossVersionEqualsThePairVersion) {
  // The first half of the points as data, the others as queries.
  const Index n = GetParam() / 2, q = GetParam() - n;
  const Matrix pairs = Forward(kScalars, p_);
  Matrix k;
  CrossLinkKernel(kScalars, p_.rho.topRightCorner(n, q), p_.delta.topRightCorner(n, q), p_.trend.topRightCorner(n, q),
                  p_.m.head(n), p_.c.diagonal().head(n), p_.m.tail(q), p_.c.diagonal().tail(q),
                  p_.c.topRightCorner(n, q), k);
  EXPECT_TRUE(Near(k, pairs.topRightCorner(n, q), 1e-12));
}

TEST_P(LinkKernelTest, IsPositiveDefinite) { EXPECT_EQ(Forward(kScalars, p_).llt().info(), Eigen::Success); }

// F = Σ weights∘K as a function of (m, v, c, κ_ρ, κ_δ, scalars); reverse mode must give its gradient.
TEST_P(LinkKernelTest, ReverseEqualsCentralDifferences) {
  const Index n = GetParam(), pairs = n * (n - 1) / 2;
  const ArrayXd pairs_bar = RandomNormal(pairs, 1, 4).array();
  const Vector diagonal_bar = RandomNormal(n, 1, 5);
  FunctionObjective f(static_cast<int>(2 * n + 3 * pairs + 6), [&](const Vector& x, Vector* gradient) {
    const Vector m = x.head(n), v = x.segment(n, n), s = x.tail(6);
    const ArrayXd c = x.segment(2 * n, pairs);
    const LinkInputs inputs{x.segment(2 * n + pairs, pairs), x.segment(2 * n + 2 * pairs, pairs), Packed(p_.trend)};
    const LinkScalars scalars{.terms = {.linear = LinearLink::At(&s[0]), .nonlinear = RbfLink::At(&s[1])},
                              .delta = std::exp(s[3]),
                              .rho = s[4],
                              .trend = std::exp(s[5])};
    LinkKernel kernel;
    kernel.Forward(scalars, inputs, p_.trend.diagonal(), m, v, c);
    if (gradient != nullptr) {
      ArrayXd rho_bar = ArrayXd::Zero(pairs), delta_bar = ArrayXd::Zero(pairs), c_bar;
      Vector m_bar, v_bar;
      LinkScalarGradient s_bar;
      kernel.Reverse(inputs, p_.trend.diagonal(), m, v, c, pairs_bar, diagonal_bar, rho_bar, delta_bar, s_bar, m_bar,
                     v_bar, c_bar);
      gradient->resize(x.size());
      *gradient << m_bar, v_bar, c_bar.matrix(), rho_bar.matrix(), delta_bar.matrix(), s_bar.terms[0], s_bar.terms[1],
          s_bar.terms[2], s_bar.delta, s_bar.rho, s_bar.trend;
    }
    return (kernel.pairs() * pairs_bar).sum() + kernel.diagonal().dot(diagonal_bar);
  });
  Vector x(2 * n + 3 * pairs + 6);
  x << p_.m, p_.c.diagonal(), Packed(p_.c).matrix(), Packed(p_.rho).matrix(), Packed(p_.delta).matrix(), -0.9, -0.4,
      -0.3, -1.2, 0.8, -1.6;
  const GradientCheck check = CheckGradient(f, x, 1e-3);
  EXPECT_LT(check.max_relative_error, 1e-7) << check.worst;
}

INSTANTIATE_TEST_SUITE_P(Points, LinkKernelTest, testing::Values(1, 2, 3, 9, 40));

TEST(LinkKernelReverseTest, AddsKernelAndScalarAdjointsAndOverwritesTheOthers) {
  const Points p(4);
  LinkKernel kernel;
  const LinkInputs inputs = p.inputs();
  const Vector v = p.c.diagonal();
  const ArrayXd c = Packed(p.c), pairs_bar = ArrayXd::Ones(6);
  kernel.Forward(kScalars, inputs, p.trend.diagonal(), p.m, v, c);
  const auto reverse = [&](double start) {
    ArrayXd rho_bar = ArrayXd::Constant(6, start), delta_bar = rho_bar, c_bar = rho_bar;
    Vector m_bar = Vector::Constant(4, start), v_bar = m_bar;
    LinkScalarGradient s_bar{.terms = {start, start, start}, .delta = start, .rho = start, .trend = start};
    kernel.Reverse(inputs, p.trend.diagonal(), p.m, v, c, pairs_bar, Vector::Ones(4), rho_bar, delta_bar, s_bar, m_bar,
                   v_bar, c_bar);
    Vector added(18), overwritten(14);
    added << rho_bar.matrix(), delta_bar.matrix(), s_bar.terms[0], s_bar.terms[1], s_bar.terms[2], s_bar.delta,
        s_bar.rho, s_bar.trend;
    overwritten << m_bar, v_bar, c_bar.matrix();
    return std::pair{added, overwritten};
  };
  const auto [added, overwritten] = reverse(0);
  const auto [added_to_ten, overwritten_again] = reverse(10);
  EXPECT_TRUE(Near(added_to_ten, added.array() + 10, 1e-13));
  EXPECT_EQ(overwritten, overwritten_again);
}

TEST(LinkKernelLimitTest, KnownLowerLevelGivesThePaperKernelPlusTheTrend) {
  Points p(6);
  p.c.setZero();
  const Matrix k = Forward(kScalars, p);
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      const double link = kScalars.terms.linear(p.m[i], p.m[j]) + kScalars.terms.nonlinear(p.m[i], p.m[j]);
      const double paper = p.rho(i, j) * link + kScalars.delta * p.delta(i, j);
      EXPECT_NEAR(k(i, j), paper + kScalars.trend * p.trend(i, j), 1e-12);
    }
  }
}

TEST(LinkKernelLimitTest, WithoutLinkTermsItIsTheKennedyOhaganModel) {
  const Points p(6);
  const LinkScalars scalars{.terms = {}, .delta = 0.3, .rho = 1.7, .trend = 0};
  EXPECT_TRUE(Near(Forward(scalars, p), 1.7 * 1.7 * p.c + 0.3 * p.delta, 1e-12));
}

TEST(LinkKernelLimitTest, CoincidentPointsOfALowerLevelWithRoundingInItsCovarianceStayFinite) {
  Points p(3);
  p.c.setOnes();
  p.c(1, 0) = p.c(0, 1) = 1 + 1e-9;  // a variance of the difference of −2e-9
  EXPECT_TRUE(Forward(kScalars, p).allFinite());
}

// f_{t−1} ~ N(m, C) at three points, g ~ GP with the paper's kernel at (x, f_{t−1}(x)), f_t = ρ f_{t−1} + g.
TEST(LinkKernelMonteCarloTest, MeanAndCovarianceAreThoseOfTheModel) {
  LinkScalars scalars = kScalars;
  scalars.trend = 0;
  const Points p(3);
  const Matrix root = p.c.llt().matrixL(), expected = Forward(scalars, p);
  const int samples = 200000;
  Random random(1, 0);
  Matrix draws(samples, 3);
  for (int s = 0; s < samples; ++s) {
    const Vector f = p.m + root * random.NormalVector(3);
    Matrix k(3, 3);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const double link = scalars.terms.linear(f[i], f[j]) + scalars.terms.nonlinear(f[i], f[j]);
        k(i, j) = p.rho(i, j) * link + scalars.delta * p.delta(i, j);
      }
    }
    const Matrix g_root = k.llt().matrixL();
    draws.row(s) = scalars.rho * f + g_root * random.NormalVector(3);
  }
  const auto expect_mean = [samples](const ArrayXd& values, double truth) {
    const double mean = values.mean(), error = std::sqrt((values - mean).square().mean() / samples);
    EXPECT_NEAR(mean, truth, 4.5 * error);
    EXPECT_LT(error, 0.02);
  };
  for (int i = 0; i < 3; ++i) {
    expect_mean(draws.col(i).array(), scalars.rho * p.m[i]);
    for (int j = 0; j <= i; ++j) {
      expect_mean((draws.col(i).array() - scalars.rho * p.m[i]) * (draws.col(j).array() - scalars.rho * p.m[j]),
                  expected(i, j));
    }
  }
}

}  // namespace
}  // namespace fidelio
