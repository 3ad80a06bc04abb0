#include "core/design/k_dpp.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "core/base/parallel.h"
#include "gtest/gtest.h"
#include "tests/support/elementary_symmetric.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;
using Subset = std::vector<int>;

// All subsets of 3 of n, with det(L_S).
std::map<Subset, double> Determinants(const Matrix& kernel) {
  std::map<Subset, double> determinants;
  const int n = static_cast<int>(kernel.rows());
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      for (int c = b + 1; c < n; ++c) {
        const Subset s = {a, b, c};
        determinants[s] = Eigen::Matrix3d(kernel(s, s)).determinant();
      }
    }
  }
  return determinants;
}

// The chi-square statistic of draws of 3, divided by the number that one seed in a thousand exceeds if the draws are exact
// (Wilson and Hilferty's approximation). Subsets of probability zero must not be drawn at all.
double ChiSquareOverItsLimit(const Matrix& kernel, const KDpp& dpp, int draws) {
  std::map<Subset, int> counts;
  for (int seed = 0; seed < draws; ++seed) ++counts[dpp.Sample(3, seed).value().indices];
  double normaliser = 0, chi_square = 0;
  const std::map<Subset, double> determinants = Determinants(kernel);
  for (const auto& [s, determinant] : determinants) normaliser += std::max(determinant, 0.0);
  int cells = 0;
  for (const auto& [s, determinant] : determinants) {
    if (determinant < 1e-12 * normaliser) {
      EXPECT_EQ(counts[s], 0);
      continue;
    }
    const double expected = draws * determinant / normaliser;
    chi_square += (counts[s] - expected) * (counts[s] - expected) / expected;
    ++cells;
  }
  const double freedom = cells - 1, spread = 2 / (9 * freedom);
  return chi_square / (freedom * std::pow(1 - spread + 3.09 * std::sqrt(spread), 3));
}

Vector EnumeratedMarginals(const Matrix& kernel) {
  Vector marginals = Vector::Zero(kernel.rows());
  double total = 0;
  for (const auto& [s, determinant] : Determinants(kernel)) {
    for (const int i : s) marginals[i] += determinant;
    total += determinant;
  }
  return marginals / total;
}

Matrix Kernel(const Matrix& x, double lengthscale) {
  Matrix k(x.rows(), x.rows());
  for (Index j = 0; j < x.rows(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      k(i, j) = std::exp(-0.5 * (x.row(i) - x.row(j)).squaredNorm() / (lengthscale * lengthscale));
    }
  }
  return k;
}

Vector Inclusion(const KDpp& dpp, int k) { return InclusionProbabilities(dpp.values(), dpp.vectors(), k); }

struct Case {
  const char* name;
  Matrix kernel;
};

std::vector<Case> SmallKernels() {
  const Matrix low = RandomNormal(9, 4, 3), lower = RandomNormal(9, 3, 4);
  Matrix twins = RandomPositiveDefinite(9, 5);
  twins.row(7) = twins.row(2);
  twins.col(7) = twins.col(2);
  const Vector quality = (Vector(9) << 1e-3, 1, 2, 0.5, 30, 1, 1, 4, 0.1).finished();
  return {{"full rank", RandomPositiveDefinite(9, 1)},
          {"smooth", Kernel(RandomUniform(9, 2, 2), 0.5)},
          {"rank 4", low * low.transpose()},
          {"rank 3", lower * lower.transpose()},
          {"two copies", twins},
          {"quality", quality.asDiagonal() * RandomPositiveDefinite(9, 6) * quality.asDiagonal()},
          {"identity", Matrix::Identity(9, 9)}};
}

TEST(KDppTest, DrawsHaveTheProbabilitiesOfDeterminants) {
  for (const Case& c : SmallKernels()) {
    const KDpp dpp = KDpp::FromKernel(c.kernel).value();
    EXPECT_LT(ChiSquareOverItsLimit(c.kernel, dpp, 200000), 1) << c.name;
  }
}

TEST(KDppTest, TheTestOfDrawsFindsAWrongKernel) {
  const Matrix kernel = RandomPositiveDefinite(9, 1);
  Matrix wrong = kernel;
  wrong.diagonal() *= 1.2;
  EXPECT_GT(ChiSquareOverItsLimit(kernel, KDpp::FromKernel(wrong).value(), 200000), 1.5);
}

TEST(KDppTest, InclusionProbabilitiesAreTheMarginals) {
  for (const Case& c : SmallKernels()) {
    const KDpp dpp = KDpp::FromKernel(c.kernel).value();
    EXPECT_TRUE(Near(Inclusion(dpp, 3), EnumeratedMarginals(c.kernel), 1e-10)) << c.name;
  }
}

TEST(KDppTest, DrawsOfManyIncludeCandidatesAsOftenAsTheMarginalsSay) {
  const Matrix kernel = Kernel(RandomUniform(300, 2, 8), 0.25);
  const KDpp dpp = KDpp::FromKernel(kernel, {.largest_k = 20}).value();
  EXPECT_LT(dpp.rank(), 200);
  constexpr int kDraws = 20000;
  Vector counts = Vector::Zero(300);
  for (int seed = 0; seed < kDraws; ++seed) {
    const Subset drawn = dpp.Sample(20, seed).value().indices;
    for (const int i : drawn) counts[i] += 1;
  }
  const Vector p = Inclusion(dpp, 20);
  const Vector z = (counts - kDraws * p).array() / (kDraws * p.array() * (1 - p.array())).sqrt();
  EXPECT_LT(z.cwiseAbs().maxCoeff(), 4.2);
  EXPECT_LT(z.squaredNorm() / 300, 1.25);
}

TEST(KDppTest, LowRankAndFullEigenvectorsAgreeWithinTheBound) {
  const Matrix kernel = Kernel(RandomUniform(400, 2, 9), 0.25);
  const KDpp few = KDpp::FromKernel(kernel, {.largest_k = 15, .tolerance = 1e-4}).value();
  const KDpp more = KDpp::FromKernel(kernel).value();
  EXPECT_LT(few.rank(), more.rank());
  EXPECT_LE(few.TotalVariation(15).value(), 1e-4);
  EXPECT_GT(few.TotalVariation(15).value(), 0);
  // With all of the kernel, e_k is larger by no more than the bound.
  const auto log_polynomial = [](const KDpp& dpp) { return NaiveLogPolynomials(dpp.values().array().log(), 15)[15]; };
  const double missing = -std::expm1(log_polynomial(few) - log_polynomial(more));
  EXPECT_GE(missing, 0);
  EXPECT_LE(missing, few.TotalVariation(15).value());
  const Eigen::SelfAdjointEigenSolver<Matrix> dense(kernel);
  EXPECT_TRUE(Near(more.values().head(60), dense.eigenvalues().reverse().head(60), 1e-12));
}

// Of low and of full rank, well and badly conditioned.
TEST(KDppTest, OneDrawIsTheFirstOfMany) {
  for (const double lengthscale : {0.01, 0.1, 0.25}) {
    const Matrix kernel = Kernel(RandomUniform(400, 2, 9), lengthscale);
    for (const int k : {1, 15, 60}) {
      for (uint64_t seed = 0; seed < 5; ++seed) {
        const KDppDraw once = KDpp::SampleOnce(kernel, k, seed).value();
        const KDppDraw first = KDpp::FromKernel(kernel, {.largest_k = k}).value().Sample(k, seed).value();
        EXPECT_EQ(once.indices, first.indices) << lengthscale << " " << k;
        EXPECT_NEAR(once.log_determinant, first.log_determinant, 1e-9 * std::abs(first.log_determinant));
      }
    }
  }
  const Matrix low = RandomNormal(300, 7, 3);
  EXPECT_TRUE(IsError(KDpp::SampleOnce(low * low.transpose(), 8, 1).status(), absl::StatusCode::kInvalidArgument,
                      {"k: 8", "300 candidates", "numerical rank 7"}));
  EXPECT_TRUE(IsError(KDpp::SampleOnce(Matrix(0, 0), 1, 1).status(), absl::StatusCode::kInvalidArgument, {"rank 0"}));
  EXPECT_TRUE(IsError(KDpp::SampleOnce(Matrix::Identity(5, 5), 0, 1).status(), absl::StatusCode::kInvalidArgument,
                      {"k: 0, must be at least 1"}));
}

TEST(KDppTest, LogDeterminantsAreThoseOfTheKernel) {
  const Matrix kernel = Kernel(RandomUniform(300, 2, 10), 0.1);
  for (const int k : {1, 10, 40}) {
    const KDppDraw draw = KDpp::FromKernel(kernel).value().Sample(k, 1).value();
    const double dense = std::log(Matrix(kernel(draw.indices, draw.indices)).determinant());
    EXPECT_NEAR(draw.log_determinant, dense, 1e-9 * std::max(1.0, std::abs(dense)));
  }
}

TEST(KDppTest, ScalesOfTheKernelDoNotMatter) {
  const Matrix kernel = Kernel(RandomUniform(300, 2, 12), 0.1);
  const KDppDraw plain = KDpp::FromKernel(kernel, {.largest_k = 30}).value().Sample(30, 5).value();
  for (const double scale : {1e-12, 1e12, 1e-150, 1e150}) {
    const KDppDraw scaled = KDpp::FromKernel(scale * kernel, {.largest_k = 30}).value().Sample(30, 5).value();
    EXPECT_EQ(scaled.indices, plain.indices) << scale;
    EXPECT_NEAR(scaled.log_determinant, plain.log_determinant + 30 * std::log(scale), 1e-7);
  }
}

TEST(KDppTest, DrawsNearTheRankHaveDistinctCandidatesAndFiniteDeterminants) {
  const KDpp dpp = KDpp::FromKernel(Kernel(RandomUniform(600, 2, 13), 0.2)).value();
  ASSERT_GT(dpp.rank(), 150);
  for (const int k : {1, 100, dpp.rank()}) {
    const KDppDraw draw = dpp.Sample(k, 2).value();
    EXPECT_EQ(static_cast<int>(std::set<int>(draw.indices.begin(), draw.indices.end()).size()), k);
    EXPECT_TRUE(std::isfinite(draw.log_determinant));
  }
}

TEST(KDppTest, CopiesNeverAppearTogether) {
  Matrix x = RandomUniform(200, 2, 14);
  x.bottomRows(100) = x.topRows(100);
  for (const double lengthscale : {0.05, 0.5}) {
    const KDpp dpp = KDpp::FromKernel(Kernel(x, lengthscale)).value();
    EXPECT_LE(dpp.rank(), 100);
    for (int seed = 0; seed < 200; ++seed) {
      std::set<int> places;
      const Subset drawn = dpp.Sample(30, seed).value().indices;
      for (const int i : drawn) places.insert(i % 100);
      EXPECT_EQ(places.size(), 30u);
    }
  }
}

TEST(KDppTest, NegativeEigenvaluesCountAsZero) {
  const Matrix q = Eigen::HouseholderQR<Matrix>(RandomNormal(9, 9, 15)).householderQ();
  const Vector values = (Vector(9) << 5, 4, 3, 2, 1, 0.5, -1e-3, -1e-3, -2e-3).finished();
  const Matrix kernel = q * values.asDiagonal() * q.transpose();
  const Matrix clipped = q * values.cwiseMax(0).asDiagonal() * q.transpose();
  const KDpp dpp = KDpp::FromKernel(kernel).value();
  EXPECT_EQ(dpp.rank(), 6);
  EXPECT_TRUE(Near(Inclusion(dpp, 3), EnumeratedMarginals(clipped), 1e-12));
}

TEST(KDppTest, TheSameSeedGivesTheSameDrawInEveryThread) {
  const KDpp dpp = KDpp::FromKernel(Kernel(RandomUniform(200, 2, 16), 0.1)).value();
  std::vector<Subset> draws(8);
  ParallelFor(8, 4, [&](int i) { draws[i] = dpp.Sample(20, 77 + i / 4).value().indices; });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(draws[i], draws[i / 4 * 4]);
  EXPECT_NE(draws[0], draws[4]);
}

TEST(KDppTest, ImpossibleSizesAreRefusedWithTheRank) {
  const Matrix factor = RandomNormal(30, 4, 17), kernel = factor * factor.transpose();
  const auto invalid = absl::StatusCode::kInvalidArgument;
  const KDpp dpp = KDpp::FromKernel(kernel).value();
  EXPECT_TRUE(IsError(dpp.Sample(5, 0).status(), invalid, {"k: 5", "30 candidates", "rank 4"}));
  EXPECT_TRUE(IsError(dpp.Sample(0, 0).status(), invalid, {"k: 0"}));
  EXPECT_TRUE(IsError(dpp.TotalVariation(5).status(), invalid, {"rank 4"}));
  const KDpp small = KDpp::FromKernel(kernel, {.largest_k = 2}).value();
  EXPECT_TRUE(IsError(small.Sample(3, 0).status(), invalid, {"k: 3", "at most 2"}));
  for (const Matrix& nothing : {Matrix(Matrix::Zero(3, 3)), Matrix(0, 0)}) {
    EXPECT_TRUE(IsError(KDpp::FromKernel(nothing).value().Sample(1, 0).status(), invalid, {"rank 0"}));
  }
}

TEST(KDppTest, WrongKernelsAreNamed) {
  const auto invalid = absl::StatusCode::kInvalidArgument;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Matrix kernel = Matrix::Identity(3, 3);
  kernel(1, 2) = 0.5;
  EXPECT_TRUE(IsError(KDpp::FromKernel(kernel).status(), invalid, {"kernel[2][1]: 0", "kernel[1][2]", "0.5"}));
  kernel(1, 2) = nan;
  EXPECT_TRUE(IsError(KDpp::FromKernel(kernel).status(), invalid, {"kernel[1][2]: nan", "finite"}));
  EXPECT_TRUE(IsError(KDpp::FromKernel(-Matrix::Identity(2, 2)).status(), invalid, {"kernel[0][0]: -1", "at least 0"}));
  EXPECT_TRUE(IsError(KDpp::FromKernel(Matrix(2, 3)).status(), invalid, {"kernel: 2×3", "square"}));
}

}  // namespace
}  // namespace fidelio
