#include "core/baseline/co_kriging.h"

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/random.h"
#include "core/baseline/co_kriging_posterior.h"
#include "core/gp/gp_objective.h"
#include "core/gp/gp_posterior.h"
#include "gtest/gtest.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_names.h"
#include "tests/support/naive_conditioning.h"
#include "tests/support/naive_kernel.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

// Near the prior's centre, with no two parameters alike.
Vector ThetaOf(const GpModel& model, uint64_t seed) {
  Random random(seed, 0);
  return model.parameters().Centres() + 0.3 * random.NormalVector(model.parameters().size());
}

// The same with a noise that is not small beside the rest: differences of values with a nearly singular covariance would feel its
// rounding.
Vector WellConditioned(const GpModel& model, uint64_t seed) {
  Vector theta = ThetaOf(model, seed);
  for (const ParameterBlock& block : model.parameters().blocks()) {
    if (block.name[0] == 'n') theta[block.offset] = std::log(0.1) + 0.1 * static_cast<double>(seed);
  }
  return theta;
}

ScaledData ThreeLevels() {
  Dataset data = SmallData({9, 6, 4}, 2);
  data.levels[1].noise_variance = Vector::LinSpaced(6, 0.01, 0.05);
  return ScaleData(data);
}

class CoKrigingTest : public ::testing::TestWithParam<std::tuple<KernelFamily, int>> {
 protected:
  const CoKriging model_{ThreeLevels(), {.family = std::get<0>(GetParam()), .hidden = std::get<1>(GetParam())}};
  const Vector theta_ = ThetaOf(model_, 3);

  // One Gaussian of the data and of the queries at every level: f = B δ with δ_t at all inputs, level by level.
  NaiveConditioned Naive(const Matrix& queries, const std::vector<int>& levels) const {
    const ScaledData& data = model_.data();
    const Eigen::Index total = data.x.rows(), size = total + queries.rows();
    Matrix x(size, 2);
    x << data.x, queries;
    std::vector<int> level(size);
    for (int t = 0; t < 3; ++t) {
      for (int i = data.offset[t]; i < data.offset[t + 1]; ++i) level[i] = t;
    }
    for (size_t i = 0; i < levels.size(); ++i) level[total + static_cast<Eigen::Index>(i)] = levels[i];
    const Vector weights = theta_.segment(model_.network_offset(), model_.network().size());
    const Matrix h = model_.network().Forward(weights, x, nullptr);
    Matrix k = Matrix::Zero(size, size);
    Vector mean(size), noise(total);
    for (Eigen::Index i = 0; i < size; ++i) {
      mean[i] = theta_[model_.mean_offset()];
      for (int s = 1; s <= level[i]; ++s) mean[i] *= theta_[model_.level(s).rho];
      for (Eigen::Index j = 0; j < size; ++j) {
        for (int t = 0; t <= std::min(level[i], level[j]); ++t) {
          double r = 1;
          for (int s = t + 1; s <= level[i]; ++s) r *= theta_[model_.level(s).rho];
          for (int s = t + 1; s <= level[j]; ++s) r *= theta_[model_.level(s).rho];
          const Vector scaled = (h.row(i) - h.row(j)).transpose().cwiseProduct(model_.InverseLengthscales(theta_, t));
          k(i, j) += r * (std::exp(theta_[model_.level(t).amplitude]) * NaiveKernel(model_.family(), scaled.norm()) +
                          model_.Offset(theta_, t));
        }
      }
      if (i < total) noise[i] = data.noise[i] + model_.Noise(theta_, level[i]);
    }
    return NaiveCondition(k, mean, data.y, noise);
  }
};

TEST_P(CoKrigingTest, GradientEqualsCentralDifferences) {
  GpObjective objective(model_);
  for (const uint64_t seed : {7, 8}) {
    const GradientCheck check = CheckGradient(objective, objective.Whitened(WellConditioned(model_, seed)), 1e-3);
    EXPECT_LT(check.max_relative_error, 1e-6) << "component " << check.worst << ", seed " << seed;
  }
}

TEST_P(CoKrigingTest, LikelihoodAndPredictionsEqualTheNaiveJointModel) {
  const Matrix x = SmallQueries(6, 2);
  const std::vector<int> levels = {0, 1, 2, 0, 1, 2};
  const NaiveConditioned naive = Naive(x, levels);
  GpObjective objective(model_);
  double value;
  ASSERT_TRUE(objective.Evaluate(objective.Whitened(theta_), &value, nullptr));
  Vector unused = Vector::Zero(theta_.size());
  EXPECT_NEAR(value, model_.parameters().NegativeLogPrior(theta_, unused) - naive.log_likelihood,
              1e-8 * std::abs(value));
  CoKrigingPosterior posterior(model_.data());
  ASSERT_TRUE(posterior.Add(model_, theta_, 1).ok());
  const auto joint = posterior.Joint(x, levels, {});
  ASSERT_TRUE(joint.ok());
  EXPECT_TRUE(Near(joint->mean, naive.mean, 1e-8));
  EXPECT_TRUE(Near(joint->covariance, naive.covariance, 1e-8));
}

INSTANTIATE_TEST_SUITE_P(Kernels, CoKrigingTest,
                         ::testing::Combine(::testing::ValuesIn(kAllKernelFamilies), ::testing::Values(0, 3)),
                         [](const auto& test) {
                           return std::string(KernelName(std::get<0>(test.param))) +
                                  (std::get<1>(test.param) == 0 ? "Ar1" : "DeepMf");
                         });

}  // namespace
}  // namespace fidelio
