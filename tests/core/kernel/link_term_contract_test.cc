// Every term of a link (core/kernel/link_terms.h) keeps the contract.
#include <Eigen/Eigenvalues>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/normal_quadrature.h"
#include "core/kernel/link_path.h"
#include "core/kernel/link_terms.h"
#include "core/kernel/stationary.h"
#include "core/linalg/lanes.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/path_moments.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

template <typename Term>
class LinkTermContractTest : public testing::Test {
 protected:
  static constexpr int kParameters = static_cast<int>(std::tuple_size_v<decltype(Term::Parameters())>);

  static Vector Theta() {
    Vector theta(kParameters);
    for (int i = 0; i < kParameters; ++i) theta[i] = -0.4 + 0.3 * i;
    return theta;
  }
  static Term At(const Vector& theta) { return Term::At(theta.data()); }

  // Means, variances and covariance of f at two points.
  static LinkPair<double> Pair(const Vector& moments) {
    return {moments[0], moments[1], moments[2], moments[3], moments[4]};
  }
  static double Moment(const Vector& theta, const Vector& moments) {
    double kept[Term::kKept + 1];
    return At(theta).Moment(Pair(moments), kept);
  }
  static double Diagonal(const Vector& theta, double m, double v) {
    return At(theta).constant() + At(theta).Diagonal(m, v);
  }

  static inline const Vector kMoments{{0.4, -0.3, 0.8, 0.5, 0.2}};
};

template <typename Tuple>
struct TestedTerms;
template <typename... Terms>
struct TestedTerms<std::tuple<Terms...>> {
  using Type = testing::Types<std::decay_t<Terms>...>;
};
TYPED_TEST_SUITE(LinkTermContractTest, TestedTerms<LinkTermTypes>::Type);

// (F(x + h) − F(x − h)) / 2h, by Richardson's extrapolation.
template <typename F>
double Difference(const F& f, Vector x, Index i) {
  const auto plain = [&](double h) {
    Vector up = x, down = x;
    up[i] += h;
    down[i] -= h;
    return (f(up) - f(down)) / (2 * h);
  };
  return (4 * plain(1e-3) - plain(2e-3)) / 3;
}

TYPED_TEST(LinkTermContractTest, ValueIsSymmetricAndPositiveSemidefinite) {
  const TypeParam term = this->At(this->Theta());
  const Vector f = 2 * RandomNormal(12, 1, 1);
  Matrix k(12, 12);
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 12; ++j) k(i, j) = term(f[i], f[j]);
  }
  EXPECT_TRUE(Near(k, k.transpose(), 1e-14));
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(k).eigenvalues().minCoeff(), -1e-12 * k.trace());
}

TYPED_TEST(LinkTermContractTest, ItsFirstParameterIsTheLogarithmOfAFactor) {
  Vector theta = this->Theta();
  const double before = this->At(theta)(0.3, -0.8);
  theta[0] += std::log(3.0);
  EXPECT_NEAR(this->At(theta)(0.3, -0.8), 3 * before, 1e-14);
  EXPECT_EQ(TypeParam()(0.3, -0.8), 0);  // made by default it is no term
}

TYPED_TEST(LinkTermContractTest, MomentOfKnownInputsIsTheValue) {
  const Vector known{{0.7, -0.2, 0, 0, 0}};
  EXPECT_NEAR(this->Moment(this->Theta(), known), this->At(this->Theta())(0.7, -0.2), 1e-14);
}

TYPED_TEST(LinkTermContractTest, MomentIsTheExpectationOfTheValue) {
  const TypeParam term = this->At(this->Theta());
  const Vector& p = this->kMoments;
  const NormalQuadrature rule(60);
  // f = m + √v ξ, f' = m' + c/√v ξ + √(v' − c²/v) η
  const double sd = std::sqrt(p[2]), slope = p[4] / sd, rest = std::sqrt(p[3] - slope * slope);
  double sum = 0;
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 60; ++j) {
      const double f = p[0] + sd * rule.node[i], other = p[1] + slope * rule.node[i] + rest * rule.node[j];
      sum += rule.weight[i] * rule.weight[j] * term(f, other);
    }
  }
  EXPECT_NEAR(this->Moment(this->Theta(), p), sum, 1e-9);
}

TYPED_TEST(LinkTermContractTest, DiagonalIsTheMomentOfAPointWithItself) {
  const double m = 0.6, v = 0.7;
  EXPECT_NEAR(this->Diagonal(this->Theta(), m, v), this->Moment(this->Theta(), Vector{{m, m, v, v, v}}), 1e-13);
}

TYPED_TEST(LinkTermContractTest, KeptGivesTheMomentAgainAndLanesAgreeWithNumbers) {
  const TypeParam term = this->At(this->Theta());
  double kept[TypeParam::kKept + 1];
  const LinkPair<double> pair = this->Pair(this->kMoments);
  const double moment = term.Moment(pair, kept);
  EXPECT_EQ(term.Kept(pair, kept), moment);
  Lanes lanes_kept[TypeParam::kKept + 1];
  const LinkPair<Lanes> lanes(Lanes{} + pair.m, pair.other_m, Lanes{} + pair.v, pair.other_v, Lanes{} + pair.c);
  const Lanes moments = term.Moment(lanes, lanes_kept);
  for (int i = 0; i < kLanes; ++i) EXPECT_NEAR(moments[i], moment, 1e-15);
}

TYPED_TEST(LinkTermContractTest, ReverseEqualsDifferences) {
  const Vector theta = this->Theta(), &p = this->kMoments;
  const TypeParam term = this->At(theta);
  const LinkPair<double> pair = this->Pair(p);
  double kept[TypeParam::kKept + 1];
  term.Moment(pair, kept);
  LinkPairAdjoints<double> to;
  Vector sums = Vector::Zero(theta.size()), theta_bar = sums;
  term.Reverse(pair, kept, 1.0, to, sums.data());
  term.AddGradient(sums.data(), Vector(), Vector(), Vector(), theta_bar.data());
  const Vector moments_bar{{to.m + to.difference + to.product * pair.other_m,
                            to.other_m - to.difference + to.product * pair.m, to.v + to.spread, to.other_v + to.spread,
                            to.c + to.product - 2 * to.spread}};
  for (Index i = 0; i < 5; ++i) {
    EXPECT_NEAR(moments_bar[i], Difference([&](const Vector& at) { return this->Moment(theta, at); }, p, i), 1e-9) << i;
  }
  for (Index i = 0; i < theta.size(); ++i) {
    EXPECT_NEAR(theta_bar[i], Difference([&](const Vector& at) { return this->Moment(at, p); }, theta, i), 1e-9) << i;
  }
}

TYPED_TEST(LinkTermContractTest, ReverseOfTheDiagonalEqualsDifferences) {
  const Vector theta = this->Theta(), at{{0.6, 0.7}};
  const double bar = 1.3;
  const TypeParam term = this->At(theta);
  double m_bar = 0, v_slope = 0;
  term.ReverseDiagonal(at[0], at[1], bar, m_bar, v_slope);
  const Vector none = Vector::Zero(theta.size());
  Vector theta_bar = none;
  term.AddGradient(none.data(), Vector::Constant(1, at[0]), Vector::Constant(1, at[1]), Vector::Constant(1, bar),
                   theta_bar.data());
  const auto of_moments = [&](const Vector& x) { return bar * this->Diagonal(theta, x[0], x[1]); };
  EXPECT_NEAR(m_bar, Difference(of_moments, at, 0), 1e-9);
  EXPECT_NEAR(bar * v_slope, Difference(of_moments, at, 1), 1e-9);
  for (Index i = 0; i < theta.size(); ++i) {
    const auto of_theta = [&](const Vector& x) { return bar * this->Diagonal(x, at[0], at[1]); };
    EXPECT_NEAR(theta_bar[i], Difference(of_theta, theta, i), 1e-9) << i;
  }
}

TYPED_TEST(LinkTermContractTest, PathsHaveItsKernelTimesThatOfTheInputs) {
  const TypeParam term = this->At(this->Theta());
  const Matrix x = RandomNormal(4, 2, 2);
  const Vector f = RandomNormal(4, 1, 3);
  Matrix kernel;
  CrossKernel(KernelFamily::kMatern52, 1, x, x, kernel);
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) kernel(i, j) *= term(f[i], f[j]);
  }
  Matrix paths(6000, 4);
  for (Index i = 0; i < paths.rows(); ++i) {
    Random random(5, 0, static_cast<uint32_t>(i));
    const typename TypeParam::Path path({.family = KernelFamily::kMatern52, .dimensions = 2}, 20, random);
    Vector sum = Vector::Zero(4);
    path.AddTo(term, x, f, sum);
    paths.row(i) = sum.transpose();
  }
  ExpectMoments(paths, Vector::Zero(4), kernel);
}

TEST(LinkTermsTest, ParametersHaveDifferentNamesAndPlacesInTheirOrder) {
  ParameterLayout layout;
  layout.Add("before", 2, Prior());
  EXPECT_EQ(AddLinkParameters(
                "1", [](const LinkParameter& q) { return q.prior; }, layout),
            2);
  EXPECT_EQ(layout.size(), 2 + kLinkParameters);
  std::vector<std::string> names;
  for (const ParameterBlock& block : layout.blocks()) {
    for (const std::string& other : names) EXPECT_NE(block.name, other);
    names.push_back(block.name);
  }
  EXPECT_EQ(names[1], "s21");
  EXPECT_EQ(LinkParameterPlace("s2"), 0);
  EXPECT_EQ(LinkParameterPlace("vf"), 1);
  EXPECT_EQ(LinkParameterPlace("none"), -1);
}

}  // namespace
}  // namespace fidelio
