#include "core/baseline/chain_posterior.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/baseline/baseline_model.h"
#include "core/baseline/co_kriging.h"
#include "core/baseline/co_kriging_posterior.h"
#include "gtest/gtest.h"
#include "tests/support/eigenvalues.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

// Draws of every stage: its prior's centre, and others beside it, with a noise that is small enough to interpolate and large
// enough to factorise.
std::vector<StageParameters> Draws(const BaselineModel& model, double log_noise, int count,
                                   std::optional<double> log_lengthscale = std::nullopt) {
  std::vector<StageParameters> stages;
  for (int t = 0; t < model.stages(); ++t) {
    StageParameters added;
    for (int k = 0; k < count; ++k) {
      const KernelFamily family = k == 1 ? KernelFamily::kRbf : KernelFamily::kMatern52;
      const auto stage = model.Stage({.family = family}, stages);
      EXPECT_TRUE(stage.ok()) << stage.status();
      const ParameterLayout& parameters = (*stage)->parameters();
      Vector theta = parameters.Centres() + 0.3 * k * RandomNormal(parameters.size(), 1, 10 * t + k);
      for (const ParameterBlock& block : parameters.blocks()) {
        if (block.name[0] == 'n') theta[block.offset] = log_noise;
        // A link that bends, so that there is something to propagate.
        if (block.name == "lf") theta[block.offset] = 1;
        if (block.name == "w") theta[block.offset] = -1.1;
        if (block.name == "lr") theta.segment(block.offset, block.size).setConstant(0.15);
        if (log_lengthscale && block.name.starts_with("ls"))
          theta.segment(block.offset, block.size).setConstant(*log_lengthscale);
      }
      added.draws.push_back(
          {.form = {.family = family}, .theta = theta, .weight = (k + 1) * 2.0 / (count * (count + 1))});
    }
    added.best = added.draws[0];
    stages.push_back(added);
  }
  return stages;
}

// Each level's inputs are some of those of the level below.
Dataset NestedData() {
  Dataset data = SmallData({12, 7, 4}, 1);
  for (size_t t = 1; t < data.levels.size(); ++t) {
    LevelData& level = data.levels[t];
    level.x = data.levels[0].x.topRows(level.y.size());
    for (int i = 0; i < level.y.size(); ++i) level.y[i] = SmallFunction(level.x.row(i), static_cast<int>(t));
  }
  return data;
}

// Le Gratiet and Garnier (2014): with nested designs and without noise, levels can be fitted one after the other.
TEST(ChainPosteriorTest, RecursiveAr1EqualsTheJointModelOnNestedDataWithoutNoise) {
  const ScaledData data = ScaleData(NestedData());
  const BaselineModel chain(BaselineMethod::kAr1Recursive, data), joint(BaselineMethod::kAr1, data);
  // Lengthscales so short that the noise's floor, 1e-8, is nothing beside any eigenvalue of the covariance.
  const auto recursive = chain.Posterior(Draws(chain, -20, 1, std::log(0.15)));
  const auto together = joint.Posterior(Draws(joint, -20, 1, std::log(0.15)));
  ASSERT_TRUE(recursive.ok() && together.ok()) << recursive.status() << together.status();
  const Matrix x = SmallQueries(15, 1);
  const auto a = (*recursive)->Predict(x, 2), b = (*together)->Predict(x, 2);
  EXPECT_TRUE(Near(a.mean, b.mean, 1e-5));
  EXPECT_TRUE(Near(a.variance, b.variance, 1e-5));
}

class DrawsTest : public ::testing::TestWithParam<BaselineMethod> {
 protected:
  DrawsTest() {
    Dataset data = SmallData({6, 5, 4}, 1);
    for (LevelData& level : data.levels) level.x *= 0.6;  // the rest is extrapolation: there is something to propagate
    const BaselineModel model(GetParam(), ScaleData(data));
    posterior_ = *model.Posterior(Draws(model, -2, 3));
    single_ = *model.Posterior(Draws(model, -2, 1));
  }
  std::unique_ptr<const BaselinePosterior> posterior_, single_;  // three draws, and one
  const Matrix x_{{0.1}, {0.55}, {1.2}, {1.4}};
};

// Samples go from level to level without quadrature. NARGP with one draw: with more, even the first level is no Gaussian.
TEST_P(DrawsTest, MomentsAgreeWithMonteCarlo) {
  constexpr int kCount = 20000;
  const bool gaussian = GetParam() != BaselineMethod::kNargp;
  const BaselinePosterior& posterior = gaussian ? *posterior_ : *single_;
  for (int level = 0; level < 3; ++level) {
    const auto paths = posterior.Sample(x_, level, {.count = kCount, .seed = 3, .options = {.threads = 2}});
    ASSERT_TRUE(paths.ok()) << paths.status();
    const auto joint = posterior.Joint(x_, std::vector<int>(4, level), {});
    ASSERT_TRUE(joint.ok());
    const Vector mean = paths->colwise().mean(), sd = joint->covariance.diagonal().cwiseSqrt();
    const Matrix centred = paths->rowwise() - mean.transpose();
    const Matrix covariance = centred.transpose() * centred / kCount;
    // Above level 1 the mixture below counts as a Gaussian.
    const double room = gaussian || level < 2 ? 0.02 : 0.06;
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(mean[i], joint->mean[i], room * sd[i]) << "level " << level << " row " << i;
      for (int j = 0; j < 4; ++j) {
        EXPECT_NEAR(covariance(i, j), joint->covariance(i, j), (2 * room + (i == j ? 0 : 0.05)) * sd[i] * sd[j])
            << "level " << level << " " << i << "," << j;
      }
    }
  }
}

TEST_P(DrawsTest, JointMomentsAcrossLevelsArePositiveAndAgreeWithPredict) {
  Matrix x(12, 1);
  x << x_, x_, x_;
  std::vector<int> levels;
  for (int i = 0; i < 12; ++i) levels.push_back(i / 4);
  const auto joint = posterior_->Joint(x, levels, {});
  ASSERT_TRUE(joint.ok());
  const Matrix symmetric = 0.5 * (joint->covariance + joint->covariance.transpose());
  EXPECT_TRUE(IsPositiveSemidefinite(symmetric, 1e-10, 1));
  for (int level = 0; level < 3; ++level) {
    const auto gaussians = posterior_->Predict(x_, level);
    const Vector weight = posterior_->Weights(level);
    const Vector mean = gaussians.mean.transpose() * weight;
    const Vector variance = gaussians.variance.transpose() * weight +
                            (gaussians.mean.rowwise() - mean.transpose()).cwiseAbs2().transpose() * weight;
    EXPECT_TRUE(Near(joint->mean.segment(4 * level, 4), mean, 1e-11));
    EXPECT_TRUE(Near(joint->covariance.diagonal().segment(4 * level, 4), variance, 1e-10));
  }
}

TEST_P(DrawsTest, GradientAgreesWithDifferences) {
  constexpr double kStep = 1e-5;
  for (int level = 0; level < 3; ++level) {
    const Matrix bar = posterior_->Predict(x_, level).mean.array().cos(), other = bar.array().sin();
    const Matrix gradient = posterior_->Gradient(x_, level, bar, other);
    const auto value = [&](const Matrix& x) -> Vector {
      const auto p = posterior_->Predict(x, level);
      return (bar.cwiseProduct(p.mean) + other.cwiseProduct(p.variance)).colwise().sum();
    };
    const Vector difference = (value(x_.array() + kStep) - value(x_.array() - kStep)) / (2 * kStep);
    EXPECT_TRUE(Near(gradient, difference, 1e-6)) << "level " << level;
  }
}

TEST_P(DrawsTest, WorkEndsWhenItsCallerSaysSo) {
  const auto joint = posterior_->Joint(x_, {0, 1, 2, 2}, {.check = [] { return absl::CancelledError("gone"); }});
  EXPECT_EQ(joint.status().code(), absl::StatusCode::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Methods, DrawsTest, ::testing::ValuesIn(kAllBaselineMethods),
                         [](const auto& test) { return std::string(NameOf(test.param)); });

}  // namespace
}  // namespace fidelio
