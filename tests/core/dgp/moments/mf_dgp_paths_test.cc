#include <cmath>
#include <memory>
#include <utility>

#include "core/dgp/moments/mf_dgp.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"

namespace fidelio {
namespace {

using Eigen::Index;

std::unique_ptr<MixtureEmulator> FitPathsOrDie(const Dataset& data, const FitOptions& options) {
  auto model = FitMfDgp(data, options);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

Matrix PathsOrDie(const Emulator& model, const Matrix& x, const PathOptions& options) {
  const auto paths = model.DrawPaths(options);
  EXPECT_TRUE(paths.ok()) << paths.status();
  auto values = (*paths)->Evaluate(x);
  EXPECT_TRUE(values.ok()) << values.status();
  return *std::move(values);
}

// Models that the tests only look at: three levels with a surprise at the top, which widens its variances; a low fidelity that
// tells nothing, so that structures which leave it out take part; and rough kernels.
class MfDgpPathsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Dataset surprising = SmallData({14, 8, 6}, 2);
    surprising.levels[2].y[3] += 2;
    surprising_ = FitPathsOrDie(surprising, {.seed = 1}).release();
    Dataset unrelated = SmallData({20, 9}, 1);
    for (int i = 0; i < 20; ++i) unrelated.levels[0].y[i] = std::cos(19 * unrelated.levels[0].x(i, 0) + 1);
    unrelated_ = FitPathsOrDie(unrelated, {.seed = 1}).release();
    rough_ = FitPathsOrDie(SmallData({12, 6}, 2), {.kernel = KernelFamily::kMatern32, .seed = 1}).release();
  }
  static void TearDownTestSuite() {
    delete surprising_;
    delete unrelated_;
    delete rough_;
  }
  static const MixtureEmulator *surprising_, *unrelated_, *rough_;
};
const MixtureEmulator *MfDgpPathsTest::surprising_ = nullptr, *MfDgpPathsTest::unrelated_ = nullptr,
                      *MfDgpPathsTest::rough_ = nullptr;

TEST_F(MfDgpPathsTest, ManyPathsHaveTheMomentsOfTheMixture) {
  constexpr int kCount = 4000, kPoints = 5;
  for (const MixtureEmulator* model : {surprising_, unrelated_, rough_}) {
    const Matrix x = SmallQueries(kPoints, model->input_dimension());
    for (int level = 0; level < model->levels(); ++level) {
      SCOPED_TRACE(testing::Message() << model->levels() << " levels, level " << level);
      const auto joint = model->JointMoments(x, {.level = level});
      ASSERT_TRUE(joint.ok()) << joint.status();
      Matrix paths = PathsOrDie(*model, x, {.level = level, .count = kCount, .seed = 5, .threads = 0});
      ASSERT_EQ(paths.rows(), kCount);
      paths.rowwise() -= joint->mean.transpose();
      for (int i = 0; i < kPoints; ++i) {
        EXPECT_NEAR(paths.col(i).mean(), 0, 4.5 * std::sqrt(joint->covariance(i, i) / kCount)) << i;
        for (int j = 0; j <= i; ++j) {
          const Vector products = paths.col(i).cwiseProduct(paths.col(j));
          const double error = std::sqrt((products.array() - products.mean()).square().mean() / kCount);
          EXPECT_NEAR(products.mean(), joint->covariance(i, j), 4.5 * error) << i << "," << j;
        }
      }
    }
  }
}

// Every block of inputs is worked on by itself, so that twice the inputs are twice the work; any number will do.
TEST_F(MfDgpPathsTest, WorkIsThatOfTheBlocksOfInputs) {
  constexpr Index kBlock = 64, kBlocks = 200;
  static_assert(kBlock * kBlocks > kMostJointInputs);
  const Matrix x = SmallQueries(kBlock * kBlocks, 1);
  const auto paths = unrelated_->DrawPaths({.count = 2, .seed = 8, .threads = 0});
  ASSERT_TRUE(paths.ok()) << paths.status();
  const auto all = (*paths)->Evaluate(x);
  ASSERT_TRUE(all.ok()) << all.status();
  for (Index b = 0; b < kBlocks; b += 33) {
    EXPECT_EQ(*(*paths)->Evaluate(x.middleRows(b * kBlock, kBlock)), all->middleCols(b * kBlock, kBlock));
  }
}

TEST_F(MfDgpPathsTest, FunctionsPassThroughDataWithoutNoise) {
  const Dataset data = SmallData({14, 8, 5}, 2);
  const auto exact = FitPathsOrDie(data, {.seed = 1});
  for (int level = 0; level < 3; ++level) {
    const Matrix paths = PathsOrDie(*exact, data.levels[level].x, {.level = level, .count = 50});
    EXPECT_TRUE(Near(paths, data.levels[level].y.transpose().replicate(50, 1), 0.1)) << "level " << level;
  }
}

}  // namespace
}  // namespace fidelio
