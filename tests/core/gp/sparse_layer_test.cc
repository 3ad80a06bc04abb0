#include "core/gp/sparse_layer.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

#include "core/base/random.h"
#include "core/gp/site_layer.h"
#include "core/gp/whitening.h"
#include "gtest/gtest.h"
#include "tests/support/function_objective.h"
#include "tests/support/gradient_check.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

constexpr int kInducing = 4, kPoints = 6;

// k(z, x) = exp(−½(z−x)²) of points on a line, shifted by θ.
Matrix Kernel(const Vector& a, const Vector& b) {
  Matrix k(a.size(), b.size());
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    for (Eigen::Index j = 0; j < b.size(); ++j) k(i, j) = std::exp(-0.5 * (a[i] - b[j]) * (a[i] - b[j]));
  }
  return k;
}

const Vector kZ = Vector::LinSpaced(kInducing, -1.5, 2);
const Vector kX = Vector::LinSpaced(kPoints, -2, 2.2);

Matrix WhitenedCross() {
  Whitening whitening;
  EXPECT_TRUE(whitening.Factorise(Kernel(kZ, kZ), 0, 1, "K").ok());
  Matrix a;
  whitening.Apply(Kernel(kZ, kX), a);
  return a;
}

TEST(WhiteningTest, GivesTheFactorOfTheProjectedCovariance) {
  const Matrix a = WhitenedCross(), cross = Kernel(kZ, kX);
  EXPECT_TRUE(Near(a.transpose() * a, cross.transpose() * Kernel(kZ, kZ).inverse() * cross, 1e-10));
}

TEST(WhiteningTest, ReversesExactly) {
  // F = Σ w∘A as a function of the lower triangle of K_ZZ and of k.
  Random random(1, 0);
  Matrix weights(kInducing, kPoints);
  for (double& w : weights.reshaped()) w = random.Normal();
  const Matrix k_zz = Kernel(kZ, kZ), k = Kernel(kZ, kX);
  const int pairs = kInducing * (kInducing + 1) / 2, size = pairs + kInducing * kPoints;
  const auto evaluate = [&](const Vector& at, Vector* gradient) {
    Matrix square(kInducing, kInducing);
    for (int j = 0, p = 0; j < kInducing; ++j) {
      for (int i = j; i < kInducing; ++i, ++p) square(i, j) = square(j, i) = at[p];
    }
    const Matrix cross = Eigen::Map<const Matrix>(at.data() + pairs, kInducing, kPoints);
    Whitening whitening;
    EXPECT_TRUE(whitening.Factorise(square, 1e-3, 1, "K").ok());
    Matrix a, k_bar, k_zz_bar;
    whitening.Apply(cross, a);
    if (gradient != nullptr) {
      whitening.Reverse(a, weights, k_bar);
      whitening.Finish(k_zz_bar);
      gradient->resize(size);
      for (int j = 0, p = 0; j < kInducing; ++j) {
        for (int i = j; i < kInducing; ++i, ++p) (*gradient)[p] = (i == j ? 1 : 2) * k_zz_bar(i, j);
      }
      gradient->tail(kInducing * kPoints) = k_bar.reshaped();
    }
    return weights.cwiseProduct(a).sum();
  };
  Vector at(size);
  for (int j = 0, p = 0; j < kInducing; ++j) {
    for (int i = j; i < kInducing; ++i, ++p) at[p] = k_zz(i, j);
  }
  at.tail(kInducing * kPoints) = k.reshaped();
  FunctionObjective objective(size, evaluate);
  EXPECT_LT(CheckGradient(objective, at, 1e-4).max_relative_error, 1e-7);
}

TEST(WhiteningTest, ALowerTriangularRootIsWhitenedLikeAnyMatrix) {
  constexpr int kSize = 70;  // large enough for blocks
  Random random(2, 0);
  Matrix root(kSize, kSize), bar(kSize, kSize);
  for (Matrix* m : {&root, &bar}) {
    for (double& v : m->reshaped()) v = random.Normal();
  }
  root = root.triangularView<Eigen::Lower>().toDenseMatrix();
  bar = bar.triangularView<Eigen::Lower>().toDenseMatrix();
  const Vector x = Vector::LinSpaced(kSize, -30, 30);
  const Matrix k = Kernel(x, x);
  Whitening one, other;
  ASSERT_TRUE(one.Factorise(k, 1e-3, 1, "K").ok());
  ASSERT_TRUE(other.Factorise(k, 1e-3, 1, "K").ok());
  Matrix a, a_other, k_bar, k_bar_other, k_zz_bar, k_zz_bar_other;
  one.Apply(root, a);
  other.Apply(root, a_other, Part::kLower);
  EXPECT_TRUE(Near(a, a_other, 1e-10));
  one.Reverse(a, bar, k_bar);
  other.Reverse(a_other, bar, k_bar_other, Part::kLower);
  EXPECT_TRUE(Near(k_bar.triangularView<Eigen::Lower>().toDenseMatrix(),
                   k_bar_other.triangularView<Eigen::Lower>().toDenseMatrix(), 1e-9));
  one.Finish(k_zz_bar);
  other.Finish(k_zz_bar_other);
  EXPECT_TRUE(Near(k_zz_bar, k_zz_bar_other, 1e-9));
}

TEST(SparseLayerTest, IsThePriorWhenQIs) {
  const Matrix a = WhitenedCross();
  SparseLayer layer;
  const Vector diagonal = Vector::Ones(kPoints), m = Vector::Zero(kInducing);
  const Matrix s = Matrix::Identity(kInducing, kInducing);
  layer.Forward(a, diagonal, m, s, 1);
  EXPECT_TRUE(Near(layer.mean(), Vector::Zero(kPoints), 1e-14));
  EXPECT_TRUE(Near(layer.variance(), diagonal, 1e-12));
  EXPECT_NEAR(layer.divergence(), 0, 1e-14);
}

TEST(SparseLayerTest, ReversesExactly) {
  const Matrix a = WhitenedCross();
  const Vector diagonal = Vector::Constant(kPoints, 1.3);
  Random random(2, 0);
  const Vector mean_bar = random.NormalVector(kPoints), variance_bar = random.NormalVector(kPoints);
  const int n = kInducing + kInducing * kInducing + kInducing * kPoints;
  const auto evaluate = [&](const Vector& at, Vector* gradient) {
    const Vector m = at.head(kInducing);
    const Matrix s =
        Matrix(Eigen::Map<const Matrix>(at.data() + kInducing, kInducing, kInducing)).triangularView<Eigen::Lower>();
    const Matrix own = Eigen::Map<const Matrix>(at.data() + kInducing + kInducing * kInducing, kInducing, kPoints);
    SparseLayer layer;
    layer.Forward(own, diagonal, m, s, 1);
    const double value = mean_bar.dot(layer.mean()) + variance_bar.dot(layer.variance()) - layer.divergence();
    if (gradient != nullptr) {
      Matrix a_bar, s_bar;
      Vector m_bar;
      layer.Reverse(mean_bar, variance_bar, a_bar, m_bar, s_bar);
      gradient->resize(n);
      *gradient << m_bar, s_bar.reshaped(), a_bar.reshaped();
    }
    return value;
  };
  Vector at(n);
  Matrix s = 0.2 * Matrix::Ones(kInducing, kInducing);
  s.diagonal().setConstant(0.7);
  at << random.NormalVector(kInducing), s.reshaped(), (0.5 * a).reshaped();
  FunctionObjective objective(n, evaluate);
  EXPECT_LT(CheckGradient(objective, at, 1e-3).max_relative_error, 1e-8);
}

TEST(SiteLayerTest, WithObservationsAsSitesItIsTheExactGp) {
  // Z = X: the posterior of a GP with noise.
  Whitening whitening;
  const Matrix k = Kernel(kX, kX);
  ASSERT_TRUE(whitening.Factorise(k, 0, 1, "K").ok());
  Matrix a;
  whitening.Apply(k, a);
  Random random(3, 0);
  const Vector y = random.NormalVector(kPoints);
  constexpr double kNoise = 0.1;
  SiteLayer layer;
  ASSERT_TRUE(layer.Forward(a, Vector::Ones(kPoints), Vector::Constant(kPoints, 1 / kNoise), y, 1, "B").ok());
  const Matrix inverse = (k + kNoise * Matrix::Identity(kPoints, kPoints)).inverse();
  EXPECT_TRUE(Near(layer.mean(), k * inverse * y, 1e-9));
  EXPECT_TRUE(Near(layer.variance(), (k - k * inverse * k).diagonal(), 1e-9));
}

TEST(SiteLayerTest, AgreesWithASparseLayerOfTheSameQ) {
  const Matrix a = WhitenedCross();
  Random random(4, 0);
  const Vector y = random.NormalVector(kPoints), diagonal = Vector::Constant(kPoints, 1.2);
  SiteLayer sites;
  ASSERT_TRUE(sites.Forward(a, diagonal, Vector::LinSpaced(kPoints, 0.5, 9), y, 1, "B").ok());
  const Matrix covariance = sites.inverse_factor().transpose() * sites.inverse_factor();
  const Matrix s = covariance.llt().matrixL();
  SparseLayer layer;
  const Vector m = sites.m();
  layer.Forward(a, diagonal, m, s, 1);
  EXPECT_TRUE(Near(layer.mean(), sites.mean(), 1e-12));
  EXPECT_TRUE(Near(layer.variance(), sites.variance(), 1e-12));
  EXPECT_NEAR(layer.divergence(), sites.divergence(), 1e-10);
}

}  // namespace
}  // namespace fidelio
