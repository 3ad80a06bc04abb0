#include "core/dgp/sparse/sparse_link_average.h"

#include <cmath>
#include <string>

#include "core/base/normal_quadrature.h"
#include "gtest/gtest.h"
#include "tests/support/eigenvalues.h"
#include "tests/support/kernel_names.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr int kDimension = 2, kInducing = 7, kQueries = 5;

SparseLayerState Layer(KernelFamily family, bool linked) {
  SparseLayerState state;
  state.shape = {.family = family, .dimension = kDimension, .linked = linked};
  state.theta = 0.3 * RandomNormal(state.shape.size(), 1, 3);
  state.z = RandomUniform(kInducing, kDimension, 4);
  if (linked) state.zf = RandomNormal(kInducing, 1, 5);
  state.jitter = 1e-6;
  state.m = RandomNormal(kInducing, 1, 6);
  state.root = 0.2 * RandomNormal(kInducing, kInducing, 7);  // not triangular: conditioned models have such
  return state;
}

// Correlations of both signs, and a pair with correlation 1.
LinkInput Input() {
  Matrix root = RandomNormal(kQueries, 3, 9);
  root.row(4) = root.row(1);
  root.rowwise().normalize();
  return {.mean = RandomNormal(kQueries, 1, 10),
          .sd = 0.4 * RandomUniform(kQueries, 1, 11),
          .correlation = root * root.transpose()};
}

class SparseLinkAverageTest : public ::testing::TestWithParam<KernelFamily> {
 protected:
  const SparsePosterior posterior_ =
      SparsePosterior::Build({Layer(GetParam(), false), Layer(GetParam(), true)}).value();
  const Matrix x_ = RandomUniform(kQueries, kDimension, 8);
};

// Every pair by a product rule over its two normals: the definition.
TEST_P(SparseLinkAverageTest, IsTheAverageOverTheLayerBelow) {
  const LinkInput below = Input();
  const LinkAverage average = AverageOverLink(posterior_, 1, x_, below, 1);
  const NormalQuadrature rule(24);
  for (Index i = 0; i < kQueries; ++i) {
    for (Index j = 0; j < kQueries; ++j) {
      const double r = below.correlation(i, j), rest = std::sqrt(std::max(0.0, 1 - r * r));
      const Matrix x = x_({i, j}, Eigen::all);
      double own = 0, product = 0, slope_i = 0, slope_j = 0, mean_i = 0, mean_j = 0;
      for (Index p = 0; p < rule.node.size(); ++p) {
        for (Index q = 0; q < rule.node.size(); ++q) {
          const double w = rule.weight[p] * rule.weight[q];
          const double xi = rule.node[p], xj = r * rule.node[p] + rest * rule.node[q];
          const Vector f = Eigen::Vector2d(below.mean[i] + below.sd[i] * xi, below.mean[j] + below.sd[j] * xj);
          const Vector mean = posterior_.LayerMoments(1, x, f).mean;
          own += w * posterior_.LayerCovariance(1, x, f)(0, 1);
          product += w * mean[0] * mean[1];
          mean_i += w * mean[0];
          mean_j += w * mean[1];
          slope_i += w * mean[0] * xi;
          slope_j += w * mean[1] * xj;
        }
      }
      EXPECT_NEAR(average.own(i, j), own, 1e-6) << i << "," << j;
      EXPECT_NEAR(average.curved(i, j), product - mean_i * mean_j - slope_i * slope_j * r, 1e-6) << i << "," << j;
    }
  }
}

TEST_P(SparseLinkAverageTest, OfACertainLayerBelowIsTheLayersCovariance) {
  LinkInput below = Input();
  below.sd.setZero();
  const LinkAverage average = AverageOverLink(posterior_, 1, x_, below, 1);
  EXPECT_TRUE(Near(average.own, posterior_.LayerCovariance(1, x_, below.mean), 1e-12));
  EXPECT_LT(average.curved.cwiseAbs().maxCoeff(), 1e-20);
}

// More points than a block has, of which many nearly coincide: also where the layer below is far from certain.
TEST_P(SparseLinkAverageTest, IsPositiveSemidefiniteAndDoesNotDependOnThreads) {
  const int n = 150;
  const Matrix x = RandomUniform(n, kDimension, 12), root = RandomNormal(n, 4, 13).rowwise().normalized();
  LinkInput below{
      .mean = RandomNormal(n, 1, 14), .sd = 2 * RandomUniform(n, 1, 15), .correlation = root * root.transpose()};
  below.correlation.diagonal().setOnes();
  const LinkAverage one = AverageOverLink(posterior_, 1, x, below, 1),
                    four = AverageOverLink(posterior_, 1, x, below, 4);
  EXPECT_EQ(one.own, four.own);
  EXPECT_EQ(one.curved, four.curved);
  EXPECT_TRUE(IsPositiveSemidefinite(one.own, 1e-9, 1));
  EXPECT_TRUE(IsPositiveSemidefinite(one.curved, 1e-9, 1));
}

INSTANTIATE_TEST_SUITE_P(Kernels, SparseLinkAverageTest, ::testing::ValuesIn(kAllKernelFamilies),
                         [](const auto& kernel) { return std::string(KernelName(kernel.param)); });

}  // namespace
}  // namespace fidelio
