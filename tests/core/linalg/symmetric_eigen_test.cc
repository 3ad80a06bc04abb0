#include "core/linalg/symmetric_eigen.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <string>
#include <vector>

#include "core/linalg/secular_roots.h"
#include "core/linalg/tridiagonal.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

struct Case {
  std::string name;
  Matrix a;
};

Matrix WithEigenvalues(const Vector& values, uint64_t seed) {
  const int n = static_cast<int>(values.size());
  const Matrix q = Eigen::HouseholderQR<Matrix>(RandomNormal(n, n, seed)).householderQ();
  return q * values.asDiagonal() * q.transpose();
}

Matrix Kernel(int n, double lengthscale) {
  const Matrix x = RandomUniform(n, 2, 1);
  Matrix k(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      k(i, j) = std::exp(-0.5 * (x.row(i) - x.row(j)).squaredNorm() / (lengthscale * lengthscale));
    }
  }
  return k;
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const int n : {1, 2, 3, 31, 32, 33, 47, 48, 49, 50, 97, 130, 300, 650}) {
    const Matrix g = RandomNormal(n, n, n);
    cases.push_back({"random " + std::to_string(n), g + g.transpose()});
  }
  cases.push_back({"zero", Matrix::Zero(70, 70)});
  cases.push_back({"identity", Matrix::Identity(70, 70)});
  cases.push_back({"diagonal", Vector::LinSpaced(90, -4, 7).asDiagonal()});
  cases.push_back({"ones", Matrix::Ones(120, 120)});
  Vector clusters(200);
  clusters << Vector::Constant(100, 1), Vector::Constant(60, 1 + 1e-13), Vector::LinSpaced(40, 2, 2 + 1e-9);
  cases.push_back({"clusters", WithEigenvalues(clusters, 3)});
  cases.push_back({"graded", WithEigenvalues(Vector::LinSpaced(150, 0, -40).array().exp(), 4)});
  cases.push_back({"kernel", Kernel(250, 0.2)});
  cases.push_back({"kernel and nugget", Kernel(250, 0.2) + 1e-3 * Matrix::Identity(250, 250)});
  Matrix second = Matrix::Zero(201, 201);  // its eigenvalues come in pairs that agree to rounding (Wilkinson)
  for (int i = 0; i < 201; ++i) {
    second(i, i) = std::abs(i - 100);
    if (i > 0) second(i, i - 1) = second(i - 1, i) = 1;
  }
  cases.push_back({"Wilkinson", second});
  cases.push_back({"tiny", 1e-250 * RandomPositiveDefinite(60, 5)});
  cases.push_back({"huge", 1e250 * RandomPositiveDefinite(60, 5)});
  return cases;
}

TEST(EigenOfSymmetricTest, VectorsAreOrthonormalAndGiveTheMatrix) {
  for (const Case& c : Cases()) {
    const SymmetricEigen eigen = EigenOfSymmetric(c.a);
    const int n = static_cast<int>(c.a.rows());
    const double scale = std::max(c.a.cwiseAbs().maxCoeff(), 1e-300);
    EXPECT_TRUE(Near(eigen.vectors.transpose() * eigen.vectors, Matrix::Identity(n, n), 2e-14 * std::sqrt(n)))
        << c.name;
    const Matrix back = eigen.vectors * (eigen.values / scale).asDiagonal() * eigen.vectors.transpose();
    EXPECT_TRUE(Near(back, c.a / scale, 1e-14 * std::sqrt(n))) << c.name;
  }
}

TEST(EigenOfSymmetricTest, ValuesAreSortedAndThoseOfRotations) {
  for (const Case& c : Cases()) {
    const double scale = std::max(c.a.cwiseAbs().maxCoeff(), 1e-300);
    const SymmetricEigen eigen = EigenOfSymmetric(c.a);
    const Eigen::SelfAdjointEigenSolver<Matrix> other(c.a / scale, Eigen::EigenvaluesOnly);
    EXPECT_TRUE(Near(eigen.values / scale, other.eigenvalues().reverse(), 1e-14 * static_cast<double>(c.a.rows())))
        << c.name;
    for (int i = 1; i < eigen.values.size(); ++i) EXPECT_GE(eigen.values[i - 1], eigen.values[i]) << c.name;
  }
}

TEST(EigenOfSymmetricTest, SomeVectorsAreThoseOfAll) {
  for (const Case& c : Cases()) {
    const SymmetricEigen all = EigenOfSymmetric(c.a);
    const int n = static_cast<int>(c.a.rows());
    const std::vector<int> wanted = {n - 1, 0, n / 2, n / 3};
    const SymmetricEigen some = EigenOfSymmetric(c.a, [&](const Vector& values) {
      EXPECT_EQ(values, all.values) << c.name;
      return wanted;
    });
    EXPECT_EQ(some.values, all.values) << c.name;
    EXPECT_TRUE(Near(some.vectors, all.vectors(Eigen::all, wanted), 1e-13)) << c.name;
    EXPECT_EQ(EigenOfSymmetric(c.a, [](const Vector&) { return std::vector<int>(); }).vectors.cols(), 0) << c.name;
  }
}

TEST(EigenOfSymmetricTest, OnlyTheLowerTriangleIsRead) {
  const Matrix a = RandomPositiveDefinite(80, 6);
  Matrix lower = a;
  lower.triangularView<Eigen::StrictlyUpper>().setConstant(1e9);
  EXPECT_EQ(EigenOfSymmetric(lower).values, EigenOfSymmetric(a).values);
}

TEST(EigenOfSymmetricTest, ThreadsDoNotMatter) {
  const Matrix g = RandomNormal(700, 700, 8), a = g + g.transpose();
  const SymmetricEigen one = EigenOfSymmetric(a, 1), three = EigenOfSymmetric(a, 3);
  EXPECT_EQ(one.values, three.values);
  EXPECT_EQ(one.vectors, three.vectors);
}

TEST(EigenOfSymmetricTest, AnEmptyMatrixHasNoValues) { EXPECT_EQ(EigenOfSymmetric(Matrix(0, 0)).values.size(), 0); }

TEST(TridiagonalTest, BasisAndTridiagonalGiveTheMatrix) {
  for (const int n : {1, 2, 48, 49, 130}) {
    const Matrix g = RandomNormal(n, n, 7), a = g + g.transpose();
    const Tridiagonal tridiagonal(a, 1);
    Matrix t = Matrix::Zero(n, n);
    t.diagonal() = tridiagonal.diagonal();
    if (n > 1) t.diagonal(1) = t.diagonal(-1) = tridiagonal.beside();
    Matrix q = Matrix::Identity(n, n);
    tridiagonal.TimesBasis(q, 1);
    EXPECT_TRUE(Near(q * t * q.transpose(), a, 1e-13));
  }
}

TEST(SolveSecularTest, SolvesADiagonalPlusRankOne) {
  const Vector d = (Vector(5) << -1, 0, 1e-7, 1, 1e5).finished(), z = (Vector(5) << 1, -1e-3, 0.5, 2, 1e-2).finished();
  const SecularRoots roots = SolveSecular(d, z, 1);
  const Matrix a = Matrix(d.asDiagonal()) + z * z.transpose();
  EXPECT_TRUE(Near(a * roots.vectors, roots.vectors * roots.values.asDiagonal(), 1e-14));
  EXPECT_TRUE(Near(roots.vectors.transpose() * roots.vectors, Matrix::Identity(5, 5), 1e-14));
  for (int i = 0; i < 5; ++i) {
    EXPECT_GT(roots.values[i], d[i]);
    EXPECT_LT(roots.values[i], i < 4 ? d[i + 1] : 2e5);
  }
}

}  // namespace
}  // namespace fidelio
