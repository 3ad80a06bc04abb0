#include "core/dgp/sparse/sparse_paths.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/linalg/covariance_factor.h"
#include "gtest/gtest.h"
#include "tests/support/kernel_names.h"
#include "tests/support/near.h"
#include "tests/support/path_moments.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kPathDimension = 2, kPathInducing = 7;

// A layer with a posterior that is neither its prior nor certain.
SparseLayerState PathLayer(KernelFamily family, bool linked) {
  SparseLayerState state;
  state.shape = {.family = family, .dimension = kPathDimension, .linked = linked};
  state.theta = 0.3 * RandomNormal(state.shape.size(), 1, 3);
  state.theta.array() -= 0.3;
  state.z = RandomUniform(kPathInducing, kPathDimension, 4);
  if (linked) state.zf = RandomNormal(kPathInducing, 1, 5);
  state.jitter = 1e-6;
  state.m = RandomNormal(kPathInducing, 1, 6);
  state.root = Matrix(0.2 * RandomNormal(kPathInducing, kPathInducing, 7)).triangularView<Eigen::Lower>();
  return state;
}

SparsePosterior TwoLayers(KernelFamily family) {
  return SparsePosterior::Build({PathLayer(family, false), PathLayer(family, true)}).value();
}

std::vector<Random> Streams(int count, uint64_t seed) {
  std::vector<Random> random;
  for (int i = 0; i < count; ++i) random.emplace_back(seed, 1, static_cast<uint32_t>(i));
  return random;
}

class SparsePathsTest : public ::testing::TestWithParam<KernelFamily> {
 protected:
  const SparsePosterior posterior_ = TwoLayers(GetParam());
  const Matrix x_ = RandomUniform(5, kPathDimension, 8);
};

TEST_P(SparsePathsTest, ManyHaveTheMomentsOfTheFirstLayer) {
  const SparsePaths paths(posterior_, 0, Streams(4000, 1));
  ExpectMoments(paths.Evaluate(x_).transpose(), posterior_.LayerMoments(0, x_, {}).mean,
                posterior_.LayerCovariance(0, x_, {}));
}

// Joint samples of the first layer, and of the second given each: the law of the model by definition.
TEST_P(SparsePathsTest, ManyHaveTheMomentsOfLayersSampledOneByOne) {
  constexpr int kCount = 4000;
  Matrix first = posterior_.LayerCovariance(0, x_, {}), naive(kCount, x_.rows());
  ASSERT_TRUE(FactoriseCovariance(first, "covariance").ok());
  Random random(2, 0);
  for (int k = 0; k < kCount; ++k) {
    const Vector f =
        posterior_.LayerMoments(0, x_, {}).mean + first * random.NormalVector(static_cast<int>(first.cols()));
    Matrix second = posterior_.LayerCovariance(1, x_, f);
    ASSERT_TRUE(FactoriseCovariance(second, "covariance").ok());
    naive.row(k) =
        posterior_.LayerMoments(1, x_, f).mean + second * random.NormalVector(static_cast<int>(second.cols()));
  }
  const Vector mean = naive.colwise().mean();
  const Matrix centred = naive.rowwise() - mean.transpose();
  // Twice the error, about: both sides are samples.
  ExpectMoments(SparsePaths(posterior_, 1, Streams(kCount, 1)).Evaluate(x_).transpose(), mean,
                centred.transpose() * centred / kCount, {.mean = 0.05, .variance = 0.1, .covariance = 0.1});
}

TEST_P(SparsePathsTest, EachIsTheSameInAllCompany) {
  const Matrix all = SparsePaths(posterior_, 1, Streams(6, 1)).Evaluate(x_);
  std::vector<Random> last = {Streams(6, 1)[5]};
  const SparsePaths alone(posterior_, 1, std::move(last));
  EXPECT_TRUE(Near(alone.Evaluate(x_), all.col(5), 1e-11));
  EXPECT_TRUE(Near(alone.Evaluate(x_.bottomRows(2)), all.col(5).tail(2), 1e-11));
}

INSTANTIATE_TEST_SUITE_P(Kernels, SparsePathsTest, ::testing::ValuesIn(kAllKernelFamilies),
                         [](const auto& kernel) { return std::string(KernelName(kernel.param)); });

}  // namespace
}  // namespace fidelio
