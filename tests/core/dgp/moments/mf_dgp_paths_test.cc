#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/dgp/moments/mf_dgp.h"
#include "core/emulator/transformed_emulator.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

std::unique_ptr<MfDgp> FitPathsOrDie(const Dataset& data, const FitOptions& options) {
  auto model = MfDgp::Fit(data, options);
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
  static const MfDgp *surprising_, *unrelated_, *rough_;
};
const MfDgp *MfDgpPathsTest::surprising_ = nullptr, *MfDgpPathsTest::unrelated_ = nullptr,
            *MfDgpPathsTest::rough_ = nullptr;

TEST_F(MfDgpPathsTest, ManyPathsHaveTheMomentsOfTheMixture) {
  constexpr int kCount = 4000, kPoints = 5;
  for (const MfDgp* model : {surprising_, unrelated_, rough_}) {
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

TEST_F(MfDgpPathsTest, FunctionsAreTheSameInEveryCallAndCompany) {
  const Matrix x = SmallQueries(130, 2);
  const Matrix all = PathsOrDie(*surprising_, x, {.count = 6, .seed = 3});
  EXPECT_EQ(all, PathsOrDie(*surprising_, x, {.count = 6, .seed = 3, .threads = 3}));
  EXPECT_TRUE(
      Near(PathsOrDie(*surprising_, x.middleRows(100, 9), {.count = 6, .seed = 3}), all.middleCols(100, 9), 1e-11));
  EXPECT_TRUE(Near(PathsOrDie(*surprising_, x, {.first = 4, .count = 2, .seed = 3}), all.bottomRows(2), 1e-11));
  EXPECT_NE(all, PathsOrDie(*surprising_, x, {.count = 6, .seed = 4}));
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

TEST_F(MfDgpPathsTest, LoadedModelDrawsTheSameFunctions) {
  const auto loaded = MfDgp::Load(surprising_->Save());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Matrix x = SmallQueries(20, 2);
  for (int level = 0; level < 3; ++level) {
    EXPECT_EQ(PathsOrDie(**loaded, x, {.level = level, .count = 4}),
              PathsOrDie(*surprising_, x, {.level = level, .count = 4}));
  }
}

TEST_F(MfDgpPathsTest, TransformedModelsTransformTheFunctions) {
  const OutputTransform transform{.kind = OutputTransform::Kind::kLog};
  auto base = MfDgp::Load(rough_->Save());
  ASSERT_TRUE(base.ok()) << base.status();
  const TransformedEmulator model(transform, *std::move(base));
  const Matrix x = SmallQueries(20, 2);
  EXPECT_TRUE(Near(PathsOrDie(model, x, {.count = 4, .seed = 2}),
                   PathsOrDie(*rough_, x, {.count = 4, .seed = 2}).array().exp(), 1e-12));
}

TEST_F(MfDgpPathsTest, NoInputsGiveEmptyPaths) {
  const Matrix paths = PathsOrDie(*rough_, Matrix(0, 2), {.count = 3});
  EXPECT_EQ(paths.rows(), 3);
  EXPECT_EQ(paths.cols(), 0);
}

TEST_F(MfDgpPathsTest, BadArgumentsNameFieldValueAndRule) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(rough_->DrawPaths({.count = 0}).status(), kInvalid, {"count: 0, want at least 1"}));
  EXPECT_TRUE(IsError(rough_->DrawPaths({.first = -1}).status(), kInvalid, {"first: -1, want at least 0"}));
  EXPECT_TRUE(IsError(rough_->DrawPaths({.level = 2}).status(), kInvalid, {"level: 2, want 0 to 1"}));
  const auto paths = rough_->DrawPaths({});
  ASSERT_TRUE(paths.ok()) << paths.status();
  EXPECT_TRUE(IsError((*paths)->Evaluate(Matrix::Zero(2, 3)).status(), kInvalid, {"x: 3 columns"}));
  Matrix bad = Matrix::Zero(1, 2);
  bad(0, 1) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(IsError((*paths)->Evaluate(bad).status(), kInvalid, {"x[0,1]: inf"}));
}

}  // namespace
}  // namespace fidelio
