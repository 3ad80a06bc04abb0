#include "core/gp/conditioning.h"

#include <cmath>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/function_objective.h"
#include "tests/support/gradient_check.h"
#include "tests/support/naive_conditioning.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

struct Shape {
  Index n, rest;
};

// A Gaussian over n + rest points, the first n of them observed.
struct Problem {
  Matrix k;
  Vector mean, y, noise;

  explicit Problem(Shape shape)
      : k(RandomPositiveDefinite(shape.n + shape.rest, 1)),
        mean(RandomNormal(shape.n + shape.rest, 1, 2)),
        y(RandomNormal(shape.n, 1, 3)),
        noise(0.1 * RandomUniform(shape.n, 1, 4).array() + 0.01) {}
};

Matrix SymmetricFromLower(const Matrix& a) { return a.selfadjointView<Eigen::Lower>(); }

class ConditioningTest : public testing::TestWithParam<Shape> {
 protected:
  const Index n_ = GetParam().n, rest_ = GetParam().rest;
  const Problem problem_{GetParam()};
};

TEST_P(ConditioningTest, EqualsTheTextbookFormulas) {
  const NaiveConditioned naive = NaiveCondition(problem_.k, problem_.mean, problem_.y, problem_.noise);
  Conditioning conditioning;
  Matrix k = problem_.k;
  const absl::Status status = conditioning.Run(k, problem_.mean, problem_.y, problem_.noise, "k");
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(conditioning.jitter(), 0);
  EXPECT_NEAR(conditioning.log_likelihood(), naive.log_likelihood, 1e-9 * (1 + std::abs(naive.log_likelihood)));
  EXPECT_TRUE(Near(conditioning.mean_rest(), naive.mean, 1e-9));
  EXPECT_TRUE(Near(SymmetricFromLower(k.bottomRightCorner(rest_, rest_)), naive.covariance, 1e-9));
}

TEST_P(ConditioningTest, KeepsWhatPredictionsNeed) {
  Conditioning conditioning;
  Matrix k = problem_.k;
  ASSERT_TRUE(conditioning.Run(k, problem_.mean, problem_.y, problem_.noise, "k").ok());
  const Matrix kaa = problem_.k.topLeftCorner(n_, n_) + Matrix(problem_.noise.asDiagonal());
  const Vector e = problem_.y - problem_.mean.head(n_);
  EXPECT_TRUE(Near(kaa * conditioning.alpha(), e, 1e-9));
  const Matrix& inverse = conditioning.inverse_factor();
  EXPECT_TRUE(Near(inverse * kaa * inverse.transpose(), Matrix::Identity(n_, n_), 1e-9));
  EXPECT_TRUE(Near(conditioning.whitened(), inverse * e, 1e-9));
  ASSERT_EQ(conditioning.cross_weights().rows(), rest_);
  ASSERT_EQ(conditioning.cross_weights().cols(), n_);
  EXPECT_TRUE(Near(conditioning.cross_weights() * kaa, problem_.k.bottomLeftCorner(rest_, n_), 1e-9));
}

TEST_P(ConditioningTest, ReadsOnlyTheLowerTriangle) {
  Conditioning conditioning, other;
  Matrix k = problem_.k, poisoned = k;
  poisoned.triangularView<Eigen::StrictlyUpper>().setConstant(std::numeric_limits<double>::quiet_NaN());
  ASSERT_TRUE(conditioning.Run(k, problem_.mean, problem_.y, problem_.noise, "k").ok());
  ASSERT_TRUE(other.Run(poisoned, problem_.mean, problem_.y, problem_.noise, "k").ok());
  EXPECT_EQ(conditioning.log_likelihood(), other.log_likelihood());
  EXPECT_EQ(conditioning.mean_rest(), other.mean_rest());
  EXPECT_EQ(SymmetricFromLower(k.bottomRightCorner(rest_, rest_)),
            SymmetricFromLower(poisoned.bottomRightCorner(rest_, rest_)));
}

TEST_P(ConditioningTest, BuffersOfAnEarlierCallDoNotMatter) {
  Conditioning fresh, used;
  const Problem larger(Shape{n_ + 20, rest_ + 9});
  Matrix scratch = larger.k;
  ASSERT_TRUE(used.Run(scratch, larger.mean, larger.y, larger.noise, "k").ok());
  Matrix k = problem_.k, again = problem_.k;
  ASSERT_TRUE(fresh.Run(k, problem_.mean, problem_.y, problem_.noise, "k").ok());
  ASSERT_TRUE(used.Run(again, problem_.mean, problem_.y, problem_.noise, "k").ok());
  EXPECT_EQ(fresh.log_likelihood(), used.log_likelihood());
  EXPECT_EQ(fresh.mean_rest(), used.mean_rest());
  EXPECT_EQ(fresh.cross_weights(), used.cross_weights());
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConditioningTest,
                         testing::Values(Shape{0, 0}, Shape{0, 1}, Shape{0, 6}, Shape{1, 0}, Shape{9, 0}, Shape{1, 1},
                                         Shape{7, 5}, Shape{3, 60}, Shape{60, 3}, Shape{47, 49}, Shape{130, 70}),
                         [](const auto& test) {
                           return std::to_string(test.param.n) + "Of" + std::to_string(test.param.n + test.param.rest);
                         });

// F = weight·log p(y) + uᵀm' + Σ B∘C as a function of (lower triangle of k, mean, noise), with fixed u and B.
class ConditioningReverseTest : public testing::TestWithParam<Shape> {
 protected:
  FunctionObjective Scalar(double weight) const {
    const Index pairs = size_ * (size_ + 1) / 2;
    return FunctionObjective(
        static_cast<int>(pairs + size_ + n_), [this, weight, pairs](const Vector& x, Vector* gradient) {
          Matrix k = Matrix::Zero(size_, size_);
          Index at = 0;
          for (Index j = 0; j < size_; ++j) {
            for (Index i = j; i < size_; ++i) k(i, j) = x[at++];
          }
          Conditioning conditioning;
          EXPECT_TRUE(conditioning.Run(k, x.segment(pairs, size_), problem_.y, x.tail(n_), "k").ok());
          const Matrix c = SymmetricFromLower(k.bottomRightCorner(rest_, rest_));
          if (gradient != nullptr) {
            Matrix k_bar = Matrix::Constant(size_, size_, 9);
            Vector mean_bar = Vector::Constant(size_, 9);
            conditioning.Reverse(weight, b_, u_, k_bar, mean_bar);
            gradient->resize(x.size());
            at = 0;
            for (Index j = 0; j < size_; ++j) {
              // An element below the diagonal stands for two of the symmetric matrix.
              for (Index i = j; i < size_; ++i) (*gradient)[at++] = (i == j ? 1 : 2) * k_bar(i, j);
            }
            gradient->segment(pairs, size_) = mean_bar;
            gradient->tail(n_) = k_bar.diagonal().head(n_);
          }
          return weight * conditioning.log_likelihood() + u_.dot(conditioning.mean_rest()) + b_.cwiseProduct(c).sum();
        });
  }

  Vector Point() const {
    Vector x(size_ * (size_ + 1) / 2 + size_ + n_);
    Index at = 0;
    for (Index j = 0; j < size_; ++j) {
      for (Index i = j; i < size_; ++i) x[at++] = problem_.k(i, j);
    }
    x.segment(at, size_) = problem_.mean;
    x.tail(n_) = problem_.noise;
    return x;
  }

  const Index n_ = GetParam().n, rest_ = GetParam().rest, size_ = n_ + rest_;
  const Problem problem_{GetParam()};
  const Vector u_ = RandomNormal(rest_, 1, 5);
  const Matrix b_ = SymmetricFromLower(RandomNormal(rest_, rest_, 6));
};

TEST_P(ConditioningReverseTest, EqualsCentralDifferences) {
  for (const double weight : {1.0, 0.3}) {
    FunctionObjective f = Scalar(weight);
    const GradientCheck check = CheckGradient(f, Point(), 1e-3);
    EXPECT_LT(check.max_relative_error, 1e-7) << "component " << check.worst << ", weight " << weight;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConditioningReverseTest,
                         testing::Values(Shape{0, 3}, Shape{1, 0}, Shape{6, 0}, Shape{1, 1}, Shape{4, 5}, Shape{9, 2},
                                         Shape{20, 7}, Shape{26, 3}, Shape{2, 18}),
                         [](const auto& test) {
                           return std::to_string(test.param.n) + "Of" + std::to_string(test.param.n + test.param.rest);
                         });

TEST(ConditioningErrorTest, NamesTheMatrix) {
  Conditioning conditioning;
  Matrix k{{1, 2}, {2, 1}};
  EXPECT_TRUE(IsError(conditioning.Run(k, Vector::Zero(2), Vector::Zero(2), Vector::Zero(2), "covariance of level 7"),
                      absl::StatusCode::kInternal, {"covariance of level 7"}));
}

TEST(ConditioningErrorTest, JitterOfASingularMatrixIsReported) {
  Conditioning conditioning;
  Matrix k = Matrix::Ones(3, 3);
  ASSERT_TRUE(conditioning.Run(k, Vector::Zero(3), Vector::Zero(3), Vector::Zero(3), "k").ok());
  EXPECT_GT(conditioning.jitter(), 0);
}

}  // namespace
}  // namespace fidelio
