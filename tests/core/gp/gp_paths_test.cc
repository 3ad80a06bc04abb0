// GpPaths of the Gaussian processes that there are: those of classic models.
#include "core/gp/gp_paths.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/baseline/chain_posterior.h"
#include "core/baseline/co_kriging.h"
#include "gtest/gtest.h"
#include "tests/support/kernel_names.h"
#include "tests/support/near.h"
#include "tests/support/path_moments.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

constexpr int kCount = 4000;

std::vector<Random> Streams(int count) {
  std::vector<Random> random;
  for (int i = 0; i < count; ++i) random.emplace_back(5, 1, static_cast<uint32_t>(i));
  return random;
}

Vector ThetaOf(const GpModel& model) {
  Random random(3, 0);
  return model.parameters().Centres() + 0.3 * random.NormalVector(model.parameters().size());
}

void ExpectPosteriorMoments(const GpModel& model, const Matrix& z) {
  const GpPosterior posterior = GpPosterior::Build(model, ThetaOf(model)).value();
  std::vector<Random> random = Streams(kCount);
  const GpPaths paths(posterior, random);
  const Matrix values = paths.Evaluate(z);
  ExpectMoments(values.transpose(), posterior.Predict(z).mean, posterior.Covariance(z));
  // Rounding is that of the prior's covariances, of which data leave little.
  const double scale = std::max(1.0, model.At(ThetaOf(model))->Variance(z).maxCoeff());
  EXPECT_TRUE(Near(paths.Evaluate(z.bottomRows(2), 17), values.col(17).tail(2), 1e-10 * scale)) << scale;
}

class GpPathsTest : public ::testing::TestWithParam<KernelFamily> {};

TEST_P(GpPathsTest, OfAllLevelsTogether) {
  Dataset data = SmallData({9, 6, 4}, 2);
  data.levels[1].noise_variance = Vector::LinSpaced(6, 0.01, 0.05);
  Matrix z(6, 3);
  z << SmallQueries(6, 2), Eigen::Vector<double, 6>(0, 1, 2, 2, 1, 0);
  for (const int hidden : {0, 3}) {
    SCOPED_TRACE(hidden);
    ExpectPosteriorMoments(CoKriging(ScaleData(data), {.family = GetParam(), .hidden = hidden}), z);
  }
}

TEST_P(GpPathsTest, OfTheLayersOfAChain) {
  const Dataset data = SmallData({9}, 2);
  for (const LayerKind kind : {LayerKind::kFirst, LayerKind::kLinear, LayerKind::kNonlinear}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const int columns = kind == LayerKind::kFirst ? 2 : 3;
    const LayerObservations observations{.inputs = SmallQueries(9, columns, 4),
                                         .outputs = data.levels[0].y,
                                         .noise = Vector::Zero(9),
                                         .learn_noise = true};
    ExpectPosteriorMoments(ChainLayer(kind, observations, {.family = GetParam()}, {}), SmallQueries(6, columns));
    const LayerObservations none{.inputs = Matrix(0, columns), .outputs = {}, .noise = {}, .learn_noise = true};
    ExpectPosteriorMoments(ChainLayer(kind, none, {.family = GetParam()}, {}), SmallQueries(6, columns));
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, GpPathsTest, ::testing::ValuesIn(kAllKernelFamilies),
                         [](const auto& kernel) { return std::string(KernelName(kernel.param)); });

}  // namespace
}  // namespace fidelio
