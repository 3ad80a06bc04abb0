#include "core/linalg/cholesky.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Every way in which blocks of the recursion can be cut.
std::vector<Index> Sizes() {
  std::vector<Index> sizes;
  for (Index n = 0; n <= 130; ++n) sizes.push_back(n);
  sizes.push_back(300);
  return sizes;
}

Matrix Lower(const Matrix& a) { return a.triangularView<Eigen::Lower>(); }

TEST(CholeskyWithInverseTest, FactorEqualsThatOfEigen) {
  for (const Index n : Sizes()) {
    SCOPED_TRACE(n);
    Matrix a = RandomPositiveDefinite(n, 1), inverse(n, n);
    const Matrix expected = n == 0 ? a : Matrix(a.llt().matrixL());
    const absl::StatusOr<double> jitter = CholeskyWithInverse(a, inverse, "a");
    ASSERT_TRUE(jitter.ok()) << jitter.status();
    EXPECT_EQ(*jitter, 0);
    EXPECT_TRUE(Near(Lower(a), expected, 1e-12));
  }
}

TEST(CholeskyWithInverseTest, InverseIsThatOfTheFactorWithAZeroUpperTriangle) {
  for (const Index n : Sizes()) {
    SCOPED_TRACE(n);
    Matrix a = RandomPositiveDefinite(n, 2), inverse = Matrix::Constant(n, n, kNan);
    ASSERT_TRUE(CholeskyWithInverse(a, inverse, "a").ok());
    EXPECT_TRUE(Near(inverse * Lower(a), Matrix::Identity(n, n), 1e-12));
    for (Index j = 1; j < n; ++j) EXPECT_TRUE((inverse.col(j).head(j).array() == 0).all()) << "column " << j;
  }
}

TEST(CholeskyWithInverseTest, UpperTriangleIsNotRead) {
  for (const Index n : {2, 17, 40, 130}) {
    SCOPED_TRACE(n);
    Matrix a = RandomPositiveDefinite(n, 3), poisoned = a, inverse(n, n), other(n, n);
    poisoned.triangularView<Eigen::StrictlyUpper>().setConstant(kNan);
    ASSERT_TRUE(CholeskyWithInverse(a, inverse, "a").ok());
    ASSERT_TRUE(CholeskyWithInverse(poisoned, other, "a").ok());
    EXPECT_EQ(Lower(a), Lower(poisoned));
    EXPECT_EQ(inverse, other);
  }
}

TEST(CholeskyWithInverseTest, WorksOnBlocksOfLargerMatrices) {
  const Index n = 50;
  const Matrix a = RandomPositiveDefinite(n, 4);
  Matrix frame = Matrix::Constant(n + 7, n + 9, 5), inverse_frame = frame;
  frame.block(3, 4, n, n) = a;
  ASSERT_TRUE(CholeskyWithInverse(frame.block(3, 4, n, n), inverse_frame.block(3, 4, n, n), "a").ok());
  EXPECT_TRUE(Near(Lower(frame.block(3, 4, n, n)), a.llt().matrixL(), 1e-12));
  // Nothing around the blocks was touched.
  frame.block(3, 4, n, n).setConstant(5);
  inverse_frame.block(3, 4, n, n).setConstant(5);
  EXPECT_TRUE((frame.array() == 5).all());
  EXPECT_TRUE((inverse_frame.array() == 5).all());
}

TEST(CholeskyWithInverseTest, DoesNotDependOnTheUnit) {
  for (const double unit : {1e-24, 1e24}) {
    const Matrix a = RandomPositiveDefinite(30, 5);
    Matrix scaled = unit * a, inverse(30, 30);
    const absl::StatusOr<double> jitter = CholeskyWithInverse(scaled, inverse, "a");
    ASSERT_TRUE(jitter.ok()) << jitter.status();
    EXPECT_EQ(*jitter, 0);
    EXPECT_TRUE(Near(Lower(scaled) / std::sqrt(unit), a.llt().matrixL(), 1e-12));
  }
}

TEST(CholeskyWithInverseTest, ASingularMatrixIsFactorisedWithTheJitterThatIsReported) {
  for (const Index n : {2, 20, 100}) {
    SCOPED_TRACE(n);
    const Matrix g = RandomNormal(n, (n + 1) / 2, 6);
    for (const Matrix& a : {Matrix(Matrix::Constant(n, n, 3)), Matrix(g * g.transpose())}) {
      Matrix factor = a, inverse(n, n);
      const absl::StatusOr<double> jitter = CholeskyWithInverse(factor, inverse, "a");
      ASSERT_TRUE(jitter.ok()) << jitter.status();
      EXPECT_LE(*jitter, kLastJitter * 1.001);
      const Matrix l = Lower(factor);
      EXPECT_TRUE(Near(l * l.transpose(), a + *jitter * a.diagonal().mean() * Matrix::Identity(n, n), 1e-13));
    }
  }
}

TEST(CholeskyWithInverseTest, AnExactlySingularMatrixNeedsJitter) {
  Matrix a = Matrix::Constant(4, 4, 1), inverse(4, 4);
  const absl::StatusOr<double> jitter = CholeskyWithInverse(a, inverse, "a");
  ASSERT_TRUE(jitter.ok()) << jitter.status();
  EXPECT_GE(*jitter, kFirstJitter);
}

// An eigenvalue of −1e-8 (mean diagonal 1) is mended by jitter 1e-8 or the step after, not by less.
TEST(CholeskyWithInverseTest, JitterGrowsUntilItSuffices) {
  const Matrix a{{1, 1 + 1e-8}, {1 + 1e-8, 1}};
  Matrix factor = a, inverse(2, 2);
  const absl::StatusOr<double> jitter = CholeskyWithInverse(factor, inverse, "a");
  ASSERT_TRUE(jitter.ok()) << jitter.status();
  EXPECT_GE(*jitter, 0.99e-8);
  EXPECT_LE(*jitter, 1.01e-7);
  const Matrix l = Lower(factor);
  EXPECT_TRUE(Near(l * l.transpose(), a + *jitter * Matrix::Identity(2, 2), 1e-13));
}

struct Refused {
  const char* why;
  Matrix a;
};

class RefusedMatrixTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedMatrixTest, IsNamedInTheError) {
  Matrix a = GetParam().a, inverse(a.rows(), a.cols());
  const std::string size = std::to_string(a.rows()) + "×" + std::to_string(a.rows());
  EXPECT_TRUE(IsError(CholeskyWithInverse(a, inverse, "covariance of level 3").status(), absl::StatusCode::kInternal,
                      {"covariance of level 3", size}));
}

Matrix With(Matrix a, Index i, Index j, double value) {
  a(i, j) = a(j, i) = value;
  return a;
}

INSTANTIATE_TEST_SUITE_P(
    Matrices, RefusedMatrixTest,
    testing::Values(Refused{"Indefinite", Matrix{{1, 2}, {2, 1}}},
                    Refused{"LargeIndefinite", With(RandomPositiveDefinite(70, 7), 60, 3, 50)},
                    Refused{"NegativeDiagonal", -Matrix::Identity(3, 3)}, Refused{"Zero", Matrix::Zero(3, 3)},
                    Refused{"NanOnTheDiagonal", With(RandomPositiveDefinite(20, 8), 4, 4, kNan)},
                    Refused{"NanBelowTheDiagonal", With(RandomPositiveDefinite(70, 8), 60, 3, kNan)},
                    Refused{"Infinite", With(RandomPositiveDefinite(20, 8), 19, 19, HUGE_VAL)},
                    Refused{"InfiniteBelowTheDiagonal", With(RandomPositiveDefinite(20, 8), 19, 2, HUGE_VAL)}),
    [](const auto& test) { return test.param.why; });

TEST(LowerTransposeTimesLowerTest, EqualsTheDenseProduct) {
  for (const Index n : Sizes()) {
    SCOPED_TRACE(n);
    const Matrix l = Lower(RandomNormal(n, n, 9));
    Matrix result = Matrix::Constant(n, n, 7);
    LowerTransposeTimesLower(l, result);
    EXPECT_TRUE(Near(Lower(result), Lower(l.transpose() * l), 1e-13));
  }
}

}  // namespace
}  // namespace fidelio
