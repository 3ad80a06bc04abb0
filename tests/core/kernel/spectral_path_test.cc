#include "core/kernel/spectral_path.h"

#include <cmath>
#include <vector>

#include "core/kernel/stationary.h"
#include "gtest/gtest.h"
#include "tests/support/kernel_names.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Values of many paths at the rows of a, one path per column.
Matrix Paths(const std::vector<SpectralFactor>& factors, int waves, int count, const Matrix& a) {
  Matrix values(a.rows(), count);
  for (int i = 0; i < count; ++i) {
    Random random(3, 0, static_cast<uint32_t>(i));
    values.col(i) = SpectralPath(factors, waves, random).Evaluate(a);
  }
  return values;
}

// That the second moments of `values` are `expected`, within the error of so many paths.
void ExpectCovariance(const Matrix& values, const Matrix& expected) {
  const double count = static_cast<double>(values.cols());
  for (Index i = 0; i < values.rows(); ++i) {
    EXPECT_NEAR(values.row(i).mean(), 0, 4.5 / std::sqrt(count)) << i;
    for (Index j = 0; j <= i; ++j) {
      const Eigen::ArrayXd products = values.row(i).cwiseProduct(values.row(j)).transpose();
      const double error = std::sqrt((products - products.mean()).square().mean() / count);
      EXPECT_NEAR(products.mean(), expected(i, j), 4.5 * error) << i << "," << j;
    }
  }
}

class SpectralPathTest : public testing::TestWithParam<KernelFamily> {};

TEST_P(SpectralPathTest, CovarianceOverPathsIsTheKernelWhateverTheNumberOfWaves) {
  for (const int dimensions : {1, 3}) {
    const Matrix a = 1.5 * RandomNormal(6, dimensions, 5);
    Matrix kernel;
    CrossKernel(GetParam(), 1, a, a, kernel);
    for (const int waves : {1, 40}) {
      SCOPED_TRACE(testing::Message() << dimensions << " dimensions, " << waves << " waves");
      ExpectCovariance(Paths({{GetParam(), dimensions}}, waves, 8000, a), kernel);
    }
  }
}

TEST_P(SpectralPathTest, FactorsSideBySideGiveTheProductOfKernels) {
  const Matrix a = RandomNormal(5, 3, 6);
  Matrix first, second;
  CrossKernel(GetParam(), 1, a.leftCols(2), a.leftCols(2), first);
  CrossKernel(KernelFamily::kRbf, 1, a.rightCols(1), a.rightCols(1), second);
  ExpectCovariance(Paths({{GetParam(), 2}, {KernelFamily::kRbf, 1}}, 20, 8000, a), first.cwiseProduct(second));
}

INSTANTIATE_TEST_SUITE_P(Families, SpectralPathTest, testing::ValuesIn(kAllKernelFamilies),
                         [](const auto& test) { return KernelName(test.param); });

TEST(SpectralPathWaveTest, OneWaveIsACosine) {
  Random random(4, 0);
  const SpectralPath path({{KernelFamily::kMatern32, 1}}, 1, random);
  // f(a+h) + f(a−h) = 2 cos(wh) f(a), near zero and many turns away.
  const double h = 0.3;
  double ratio = 0;
  for (const double at : {0.0, 0.7, -2.3, 40.1, -900.4}) {
    const Vector f = path.Evaluate(Eigen::Vector3d(at - h, at, at + h));
    ASSERT_GT(std::abs(f[1]), 1e-3);
    if (at == 0) ratio = (f[0] + f[2]) / f[1];
    EXPECT_NEAR(f[0] + f[2], ratio * f[1], 1e-11) << at;
  }
}

TEST(SpectralPathWaveTest, ManyWavesAreNearlyGaussian) {
  const Matrix values = Paths({{KernelFamily::kRbf, 2}}, 256, 8000, Matrix::Zero(1, 2));
  const double kurtosis = values.array().pow(4).mean() / std::pow(values.array().square().mean(), 2);
  EXPECT_NEAR(kurtosis, 3, 0.3);
}

TEST(SpectralPathWaveTest, ValuesDoNotDependOnTheOtherInputs) {
  const Matrix a = RandomNormal(11, 2, 7);
  Random random(5, 0);
  const SpectralPath path({{KernelFamily::kMatern52, 2}}, 100, random);
  const Vector all = path.Evaluate(a);
  for (Index i = 0; i < a.rows(); ++i) EXPECT_NEAR(path.Evaluate(a.row(i))[0], all[i], 1e-13);
}

}  // namespace
}  // namespace fidelio
