#include "core/kernel/stationary.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/linalg/packed.h"
#include "gtest/gtest.h"
#include "tests/support/function_objective.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_names.h"
#include "tests/support/naive_kernel.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

double Kappa(KernelFamily family, double s) {
  ArrayXd values = ArrayXd::Constant(1, s);
  EvaluateRadial(family, values, nullptr);
  return values[0];
}

double KappaSlope(KernelFamily family, double s) {
  ArrayXd values = ArrayXd::Constant(1, s), slope;
  EvaluateRadial(family, values, &slope);
  return slope[0];
}

// κ of all pairs of rows of `a`, as a full matrix.
Matrix PairKernel(KernelFamily family, const Matrix& a) {
  ArrayXd pairs;
  PairDistances(a, pairs);
  EvaluateRadial(family, pairs, nullptr);
  Matrix k(a.rows(), a.rows());
  UnpackSymmetric(pairs, Vector::Ones(a.rows()), 1, k);
  return k;
}

Matrix CrossKernel(KernelFamily family, const Matrix& a, const Matrix& b) {
  Matrix k;
  CrossKernel(family, 1, a, b, k);
  return k;
}

// What every family owes its callers.
class KernelContractTest : public testing::TestWithParam<KernelFamily> {
 protected:
  const KernelFamily family_ = GetParam();
};

TEST_P(KernelContractTest, IsOneAtZeroAndVanishesFarAway) {
  EXPECT_EQ(Kappa(family_, 0), 1);
  EXPECT_LT(Kappa(family_, 1e4), family_ == KernelFamily::kMatern12 ? 1e-40 : 1e-70);
  EXPECT_EQ(Kappa(family_, 1e300), 0);
}

TEST_P(KernelContractTest, FallsWithDistance) {
  double last = 1;
  for (double s = 0.01; s < 50; s *= 1.3) {
    EXPECT_LT(Kappa(family_, s), last) << s;
    last = Kappa(family_, s);
  }
}

TEST_P(KernelContractTest, EqualsItsFormula) {
  for (double r = 0; r < 8; r += 0.1) EXPECT_NEAR(Kappa(family_, r * r), NaiveKernel(family_, r), 1e-14) << r;
}

TEST_P(KernelContractTest, SlopeEqualsCentralDifferences) {
  for (double s = 0.01; s < 30; s *= 1.5) {
    const double h = 1e-4 * s, difference = (Kappa(family_, s + h) - Kappa(family_, s - h)) / (2 * h);
    EXPECT_NEAR(KappaSlope(family_, s) / difference, 1, 1e-6) << s;
  }
}

TEST_P(KernelContractTest, SlopeAtZeroIsTheLimitOrVeryLargeWhereThereIsNone) {
  if (family_ == KernelFamily::kMatern12) {
    EXPECT_LT(KappaSlope(family_, 0), -1e20);
    EXPECT_GT(KappaSlope(family_, 0), -1e100);
    EXPECT_NEAR(KappaSlope(family_, 1e-20) / -5e9, 1, 1e-6);
    return;
  }
  EXPECT_NEAR(KappaSlope(family_, 0), (Kappa(family_, 1e-12) - 1) / 1e-12, 1e-3);
  EXPECT_NEAR(KappaSlope(family_, 0), KappaSlope(family_, 1e-20), 1e-9);
}

TEST_P(KernelContractTest, ValueDoesNotDependOnWhetherTheSlopeIsAskedFor) {
  const ArrayXd s = ArrayXd::LinSpaced(33, 0, 20);
  ArrayXd with = s, without = s, slope;
  EvaluateRadial(family_, with, &slope);
  EvaluateRadial(family_, without, nullptr);
  EXPECT_TRUE((with == without).all());
}

TEST_P(KernelContractTest, PairsEqualTheNaiveDoubleLoop) {
  for (const auto& [n, d] : {std::pair{1, 1}, {2, 1}, {3, 2}, {40, 1}, {37, 5}}) {
    SCOPED_TRACE(testing::Message() << n << " points in " << d << " dimensions");
    const Matrix x = RandomUniform(n, d, 1);
    const Vector lengthscales = RandomUniform(d, 1, 2).array() + 0.2;
    const Matrix k = PairKernel(family_, x * lengthscales.cwiseInverse().asDiagonal());
    EXPECT_TRUE(Near(k, NaiveKernelMatrix(family_, x, x, lengthscales), 1e-12));
  }
}

TEST_P(KernelContractTest, CrossEqualsTheNaiveDoubleLoop) {
  for (const auto& [n, m, d] : {std::tuple{1, 1, 1}, {3, 1, 2}, {0, 4, 2}, {4, 0, 2}, {21, 34, 4}}) {
    SCOPED_TRACE(testing::Message() << n << " and " << m << " points in " << d << " dimensions");
    const Matrix x = RandomUniform(n, d, 1), z = RandomUniform(m, d, 2);
    const Vector lengthscales = RandomUniform(d, 1, 3).array() + 0.2;
    const auto inverse = lengthscales.cwiseInverse().asDiagonal();
    EXPECT_TRUE(
        Near(CrossKernel(family_, x * inverse, z * inverse), NaiveKernelMatrix(family_, x, z, lengthscales), 1e-12));
  }
}

TEST_P(KernelContractTest, CrossEqualsItsFormulaForAnyNumbersOfPointsAndDimensions) {
  for (const int d : {1, 2, 3, 4, 7}) {
    for (const int n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 17}) {
      const Matrix x = RandomNormal(n, d, 1), z = RandomNormal(5, d, 2);
      Matrix k;
      CrossKernel(family_, 0.7, x, z, k);
      EXPECT_TRUE(Near(k, 0.7 * NaiveKernelMatrix(family_, x, z, Vector::Ones(d)), 1e-13)) << n << " points, d = " << d;
    }
  }
}

TEST_P(KernelContractTest, CrossOfAPointSetWithItselfIsSymmetricAndEqualsPairs) {
  const Matrix a = 2 * RandomUniform(25, 3, 4);
  const Matrix k = CrossKernel(family_, a, a);
  EXPECT_TRUE(Near(k, k.transpose(), 1e-15));
  EXPECT_TRUE(Near(k, PairKernel(family_, a), 1e-14));
}

TEST_P(KernelContractTest, GramMatrixIsPositiveSemidefinite) {
  for (const int d : {1, 2, 6}) {
    Matrix a = 3 * RandomUniform(40, d, 5);
    a.row(7) = a.row(3);  // a repeated point
    const Vector eigenvalues = PairKernel(family_, a).selfadjointView<Eigen::Lower>().eigenvalues();
    EXPECT_GT(eigenvalues.minCoeff(), -1e-12) << d << " dimensions";
  }
}

// F(a) = Σ u_p κ(s_p(a)) with fixed weights u; the gradients below are those of F.
TEST_P(KernelContractTest, PairInputGradientEqualsCentralDifferences) {
  const Index n = 7, d = 3;
  const ArrayXd u = RandomNormal(PairCount(n), 1, 6).array();
  FunctionObjective f(n * d, [&](const Vector& x, Vector* gradient) {
    const Matrix a = x.reshaped(n, d);
    ArrayXd s, slope;
    PairDistances(a, s);
    EvaluateRadial(family_, s, &slope);
    if (gradient != nullptr) {
      Matrix a_bar = Matrix::Zero(n, d);
      AccumulatePairInputGradient(a, u * slope, a_bar);
      *gradient = a_bar.reshaped();
    }
    return (u * s).sum();
  });
  const GradientCheck check = CheckGradient(f, RandomNormal(n * d, 1, 7), 1e-3);
  EXPECT_LT(check.max_relative_error, 1e-6) << check.worst;
}

TEST_P(KernelContractTest, CrossInputGradientEqualsCentralDifferences) {
  const Index n = 6, m = 4, d = 3;
  const Matrix a = RandomNormal(n, d, 8), u = RandomNormal(n, m, 9);
  FunctionObjective f(m * d, [&](const Vector& x, Vector* gradient) {
    const Matrix b = x.reshaped(m, d);
    Matrix s;
    ArrayXd slope;
    CrossDistances(a, b, s);
    EvaluateRadial(family_, s.reshaped().array(), &slope);
    if (gradient != nullptr) {
      Matrix b_bar = Matrix::Zero(m, d);
      AccumulateCrossInputGradient(a, b, u.cwiseProduct(slope.matrix().reshaped(n, m)), b_bar);
      *gradient = b_bar.reshaped();
    }
    return u.cwiseProduct(s).sum();
  });
  const GradientCheck check = CheckGradient(f, RandomNormal(m * d, 1, 10), 1e-3);
  EXPECT_LT(check.max_relative_error, 1e-6) << check.worst;
}

TEST_P(KernelContractTest, LengthscaleGradientEqualsCentralDifferences) {
  const Index n = 8, d = 3;
  const Matrix x = RandomUniform(n, d, 11);
  const ArrayXd u = RandomNormal(PairCount(n), 1, 12).array();
  FunctionObjective f(d, [&](const Vector& log_lengthscales, Vector* gradient) {
    const Matrix a = x * Vector((-log_lengthscales).array().exp()).asDiagonal();
    ArrayXd s, slope;
    PairDistances(a, s);
    EvaluateRadial(family_, s, &slope);
    if (gradient != nullptr) {
      gradient->setZero(d);
      AccumulatePairLengthscaleGradient(a, u * slope, *gradient);
    }
    return (u * s).sum();
  });
  const GradientCheck check = CheckGradient(f, Vector{{-1.0, 0.1, -0.4}}, 1e-3);
  EXPECT_LT(check.max_relative_error, 1e-6) << check.worst;
}

TEST_P(KernelContractTest, GradientsAreAddedToWhatIsThere) {
  const Matrix a = RandomNormal(5, 2, 13), w_cross = RandomNormal(5, 5, 14);
  const ArrayXd w = RandomNormal(PairCount(5), 1, 14).array();
  Matrix pair = Matrix::Zero(5, 2), pair_on_ten = Matrix::Constant(5, 2, 10), cross = pair, cross_on_ten = pair_on_ten;
  Vector lengthscale = Vector::Zero(2), lengthscale_on_ten = Vector::Constant(2, 10);
  AccumulatePairInputGradient(a, w, pair);
  AccumulatePairInputGradient(a, w, pair_on_ten);
  AccumulateCrossInputGradient(a, a, w_cross, cross);
  AccumulateCrossInputGradient(a, a, w_cross, cross_on_ten);
  AccumulatePairLengthscaleGradient(a, w, lengthscale);
  AccumulatePairLengthscaleGradient(a, w, lengthscale_on_ten);
  EXPECT_TRUE(Near(pair_on_ten, pair.array() + 10, 1e-13));
  EXPECT_TRUE(Near(cross_on_ten, cross.array() + 10, 1e-13));
  EXPECT_TRUE(Near(lengthscale_on_ten, lengthscale.array() + 10, 1e-13));
}

TEST_P(KernelContractTest, CoincidentPointsHaveFiniteGradients) {
  const Matrix a = Matrix::Constant(4, 2, 0.3);
  ArrayXd s, slope;
  PairDistances(a, s);
  EvaluateRadial(family_, s, &slope);
  EXPECT_TRUE((s == 1).all());
  Matrix a_bar = Matrix::Zero(4, 2);
  AccumulatePairInputGradient(a, slope, a_bar);
  EXPECT_TRUE((a_bar.array() == 0).all());
}

INSTANTIATE_TEST_SUITE_P(Families, KernelContractTest, testing::ValuesIn(kAllKernelFamilies),
                         [](const auto& test) { return KernelName(test.param); });

}  // namespace
}  // namespace fidelio
