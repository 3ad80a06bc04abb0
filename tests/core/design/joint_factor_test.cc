#include "core/design/joint_factor.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/eigenvalues.h"
#include "tests/support/gaussian_emulator.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

// Counts the columns that were requested.
struct CountingEmulator final : public GaussianEmulator {
  absl::StatusOr<Matrix> JointColumnsAt(const Matrix& x, const std::vector<int>& levels,
                                        const std::vector<int>& columns, const PredictOptions& options) const override {
    asked += static_cast<int>(columns.size());
    return Emulator::JointColumnsAt(x, levels, columns, options);
  }
  mutable int asked = 0;
};

CountingEmulator TwoInputs() {
  CountingEmulator emulator;
  emulator.dimension = 2;
  emulator.lengthscale = 0.4;
  emulator.mean = [](const Eigen::RowVectorXd& x) { return x.sum(); };
  return emulator;
}

TEST(JointFactorTest, WhatIsLeftOutIsPositiveSemidefiniteAndWithinTheBound) {
  const CountingEmulator emulator = TwoInputs();
  const Matrix x = RandomUniform(300, 2, 3);
  const auto joint = emulator.JointMoments(x, {});
  ASSERT_TRUE(joint.ok());
  for (const double tolerance : {1e-2, 1e-6}) {
    const auto factor = FactoriseJoint(emulator, x, {.tolerance = tolerance});
    ASSERT_TRUE(factor.ok()) << factor.status();
    EXPECT_EQ(factor->mean, joint->mean);
    EXPECT_LE(factor->error_bound(), tolerance * 300);
    EXPECT_LT(factor->factor.cols(), 100);
    const Matrix error = joint->covariance - factor->factor * factor->factor.transpose();
    EXPECT_TRUE(Near(error.diagonal(), factor->rest, 1e-12));
    EXPECT_TRUE(IsPositiveSemidefinite(error, 1e-12, 1));
    EXPECT_LE(error.cwiseAbs().maxCoeff(), factor->error_bound());
  }
}

TEST(JointFactorTest, ReadsFewMoreColumnsThanItKeeps) {
  const CountingEmulator emulator = TwoInputs();
  const auto factor = FactoriseJoint(emulator, RandomUniform(400, 2, 4), {.tolerance = 1e-5});
  ASSERT_TRUE(factor.ok()) << factor.status();
  EXPECT_LT(emulator.asked, 3 * factor->factor.cols() + 48);
}

TEST(JointFactorTest, RankCanBeLimited) {
  const auto factor = FactoriseJoint(TwoInputs(), RandomUniform(200, 2, 5), {.tolerance = 0, .largest_rank = 7});
  ASSERT_TRUE(factor.ok()) << factor.status();
  EXPECT_EQ(factor->factor.cols(), 7);
  EXPECT_GT(factor->error_bound(), 0.1);
}

TEST(JointFactorTest, CopiesOfInputsAndNoToleranceEndAtTheRankThatRoundingLeaves) {
  Matrix x = RandomUniform(60, 2, 6);
  x.bottomRows(30) = x.topRows(30);
  const auto factor = FactoriseJoint(TwoInputs(), x, {.tolerance = 0});
  ASSERT_TRUE(factor.ok()) << factor.status();
  EXPECT_LE(factor->factor.cols(), 30);
  EXPECT_LT(factor->error_bound(), 1e-10);
}

TEST(JointFactorTest, NoInputsGiveAnEmptyFactor) {
  const auto factor = FactoriseJoint(TwoInputs(), Matrix(0, 2), {});
  ASSERT_TRUE(factor.ok()) << factor.status();
  EXPECT_EQ(factor->factor.size(), 0);
}

TEST(JointFactorTest, BadOptionsNameFieldValueAndRule) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const Matrix x = RandomUniform(3, 2, 7);
  EXPECT_TRUE(IsError(FactoriseJoint(TwoInputs(), x, {.tolerance = -1}).status(), kInvalid, {"tolerance: -1"}));
  EXPECT_TRUE(IsError(FactoriseJoint(TwoInputs(), x, {.tolerance = std::nan("")}).status(), kInvalid, {"tolerance"}));
  EXPECT_TRUE(IsError(FactoriseJoint(TwoInputs(), x, {.largest_rank = -2}).status(), kInvalid, {"largest_rank: -2"}));
}

}  // namespace
}  // namespace fidelio
