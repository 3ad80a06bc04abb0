// What every emulator promises of many inputs at once, whichever method fitted it: joint moments, samples and functions.
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/emulator/transformed_emulator.h"
#include "gtest/gtest.h"
#include "tests/support/eigenvalues.h"
#include "tests/support/emulator_contract.h"
#include "tests/support/near.h"
#include "tests/support/path_moments.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

constexpr int kJointLevels = kContractLevels;

class EmulatorJointContractTest : public EmulatorContractTest {};

TEST_P(EmulatorJointContractTest, JointMomentsAgreeWithPredictAndArePositive) {
  const Matrix x = SmallQueries(24, 2);
  std::vector<int> levels;
  for (int i = 0; i < 24; ++i) levels.push_back(i % kJointLevels);
  for (const bool noise : {false, true}) {
    const auto joint = Model().JointMomentsAt(x, levels, {.include_noise = noise});
    ASSERT_TRUE(joint.ok()) << joint.status();
    const double scale = joint->covariance.diagonal().maxCoeff();
    EXPECT_TRUE(IsPositiveSemidefinite(joint->covariance, 1e-9, 1));
    for (int level = 0; level < kJointLevels; ++level) {
      const Prediction p = PredictOrDie(Model(), x, {.level = level, .include_noise = noise});
      for (int i = level; i < 24; i += kJointLevels) {
        EXPECT_NEAR(joint->mean[i], p.mean[i], 1e-9);
        EXPECT_NEAR(joint->covariance(i, i), p.variance[i], 1e-9 * scale);
      }
    }
  }
}

TEST_P(EmulatorJointContractTest, SamplesHaveTheJointMoments) {
  const Matrix x = SmallQueries(4, 2);
  constexpr int kCount = 4000;
  for (int level = 0; level < kJointLevels; ++level) {
    const auto paths = Model().SamplePaths(x, {.level = level, .count = kCount, .seed = 5, .include_noise = true});
    ASSERT_TRUE(paths.ok()) << paths.status();
    const auto joint = Model().JointMoments(x, {.level = level, .include_noise = true});
    ASSERT_TRUE(joint.ok()) << joint.status();
    const Vector sd = joint->covariance.diagonal().cwiseSqrt();
    const Vector mean = paths->colwise().mean();
    const Matrix centred = paths->rowwise() - mean.transpose();
    const Matrix sample = centred.transpose() * centred / kCount;
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(mean[i], joint->mean[i], 5 * sd[i] / std::sqrt(kCount)) << "level " << level;
      for (int j = 0; j < 4; ++j) {
        // Mixtures have heavier tails than Gaussians, and NARGP's covariances are approximate: hence the room.
        EXPECT_NEAR(sample(i, j), joint->covariance(i, j), 0.2 * sd[i] * sd[j]) << "level " << level;
      }
    }
  }
}

TEST_P(EmulatorJointContractTest, SamplesDependOnTheSeedAlone) {
  const Matrix x = SmallQueries(6, 2);
  const auto one = Model().SamplePaths(x, {.count = 5, .seed = 9, .threads = 1});
  const auto four = Model().SamplePaths(x, {.count = 5, .seed = 9, .threads = 4});
  const auto other = Model().SamplePaths(x, {.count = 5, .seed = 10});
  ASSERT_TRUE(one.ok() && four.ok() && other.ok());
  EXPECT_EQ(*one, *four);
  EXPECT_NE(*one, *other);
  EXPECT_TRUE(IsError(Model().SamplePaths(x, {.count = 0}).status(), absl::StatusCode::kInvalidArgument, {"count: 0"}));
}

TEST_P(EmulatorJointContractTest, ALoadedModelGivesTheSameBits) {
  const auto loaded = LoadEmulator(Model().Save());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Matrix x = SmallQueries(12, 2);
  for (int level = 0; level < kJointLevels; ++level) {
    const PredictOptions options{.level = level, .include_noise = true};
    EXPECT_EQ(Model().JointMoments(x, options)->covariance, (*loaded)->JointMoments(x, options)->covariance);
    EXPECT_EQ(*Model().SamplePaths(x, {.level = level, .count = 9}),
              *(*loaded)->SamplePaths(x, {.level = level, .count = 9}));
  }
}

TEST_P(EmulatorJointContractTest, NoInputsGiveEmptyResults) {
  const Matrix none(0, 2);
  EXPECT_EQ(Model().JointMoments(none, {})->covariance.size(), 0);
  const Matrix samples = *Model().SamplePaths(none, {.count = 3}),
               functions = FunctionsOrDie(Model(), none, {.count = 3});
  for (const Matrix& paths : {samples, functions}) {
    EXPECT_EQ(paths.rows(), 3);
    EXPECT_EQ(paths.cols(), 0);
  }
}

TEST_P(EmulatorJointContractTest, BadArgumentsNameFieldValueAndRule) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const Matrix x = SmallQueries(2, 2);
  Matrix bad = x;
  bad(1, 0) = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<Matrix, const char*>> inputs = {
      {bad, "x[1,0]: nan is not a finite number"},
      {SmallQueries(2, 3), "x: 3 columns, but the model has input dimension 2"},
      {Matrix::Zero(kMostJointInputs + 1, 2), "x: 10001 rows, want at most 10000"}};
  for (const auto& [at, message] : inputs) {
    EXPECT_TRUE(IsError(Model().JointMoments(at, {}).status(), kInvalid, {message}));
    EXPECT_TRUE(IsError(Model().SamplePaths(at, {}).status(), kInvalid, {message}));
  }
  for (const int level : {-2, 3}) {
    const std::vector<std::string> message = {"level: " + std::to_string(level), "want 0 to 2"};
    EXPECT_TRUE(IsError(Model().JointMoments(x, {.level = level}).status(), kInvalid, message));
    EXPECT_TRUE(IsError(Model().SamplePaths(x, {.level = level}).status(), kInvalid, message));
  }
}

TEST_P(EmulatorJointContractTest, ManyFunctionsHaveTheJointMoments) {
  // Layers that are nonlinear in the layer below: moments between inputs are approximate there (sparse_mf_dgp_posterior.h,
  // chain_posterior.h), and the third level takes the second as Gaussian.
  static const std::map<std::string, MomentRoom> kRooms = {
      {"nargp", {.mean = 0.05, .variance = 0.05, .covariance = 0.05}},
      {"mf_dgp_variational", {.mean = 0.05, .variance = 0.05, .covariance = 0.05}},
      {"mf_dgp_svi", {.mean = 0.05, .variance = 0.05, .covariance = 0.05}}};
  const Matrix x = SmallQueries(5, 2);
  for (int level = 0; level < kJointLevels; ++level) {
    SCOPED_TRACE(testing::Message() << "level " << level);
    const auto joint = Model().JointMoments(x, {.level = level});
    ASSERT_TRUE(joint.ok()) << joint.status();
    const Matrix paths = FunctionsOrDie(Model(), x, {.level = level, .count = 3000, .seed = 5, .threads = 0});
    const auto room = kRooms.find(GetParam().name);
    ExpectMoments(paths, joint->mean, joint->covariance,
                  room == kRooms.end() || level == 0 ? MomentRoom{} : room->second);
  }
}

TEST_P(EmulatorJointContractTest, FunctionsAreTheSameWhereverAndWheneverTheyAreEvaluated) {
  const Matrix x = SmallQueries(150, 2);
  for (int level = 0; level < kJointLevels; ++level) {
    SCOPED_TRACE(testing::Message() << "level " << level);
    const Matrix all = FunctionsOrDie(Model(), x, {.level = level, .count = 5, .seed = 3});
    EXPECT_EQ(all, FunctionsOrDie(Model(), x, {.level = level, .count = 5, .seed = 3, .threads = 4}));
    EXPECT_NE(all, FunctionsOrDie(Model(), x, {.level = level, .count = 5, .seed = 4}));
    const auto paths = Model().DrawPaths({.level = level, .first = 3, .count = 2, .seed = 3});
    ASSERT_TRUE(paths.ok()) << paths.status();
    EXPECT_TRUE(Near(*(*paths)->Evaluate(x.middleRows(60, 80).colwise().reverse()),
                     all.block(3, 60, 2, 80).rowwise().reverse(), 1e-9));
    EXPECT_TRUE(Near(*(*paths)->Evaluate(x.row(149)), all.block(3, 149, 2, 1), 1e-9));
    const auto loaded = LoadEmulator(Model().Save());
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(FunctionsOrDie(**loaded, x, {.level = level, .count = 5, .seed = 3}), all);
  }
}

// More inputs than any joint posterior takes, at a cost that is linear in them: block after block of rows.
TEST_P(EmulatorJointContractTest, FunctionsTakeAnyNumberOfInputs) {
  const Matrix x = SmallQueries(kMostJointInputs + 64, 2);
  const auto paths = Model().DrawPaths({.seed = 8, .threads = 0});
  ASSERT_TRUE(paths.ok()) << paths.status();
  const auto all = (*paths)->Evaluate(x);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_TRUE(Near(*(*paths)->Evaluate(x.bottomRows(3)), all->rightCols(3), 1e-9));
  EXPECT_EQ((*paths)->Evaluate(Matrix(0, 2))->cols(), 0);
}

TEST_P(EmulatorJointContractTest, TransformedModelsTransformTheFunctions) {
  auto base = GetParam().load(Model().Save());
  ASSERT_TRUE(base.ok()) << base.status();
  const TransformedEmulator model({.kind = OutputTransform::Kind::kLog}, *std::move(base));
  const Matrix x = SmallQueries(20, 2);
  EXPECT_TRUE(Near(FunctionsOrDie(model, x, {.count = 4, .seed = 2}),
                   FunctionsOrDie(Model(), x, {.count = 4, .seed = 2}).array().exp(), 1e-12));
}

TEST_P(EmulatorJointContractTest, BadFunctionsNameFieldValueAndRule) {
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_TRUE(IsError(Model().DrawPaths({.count = 0}).status(), invalid, {"count: 0, want at least 1"}));
  EXPECT_TRUE(IsError(Model().DrawPaths({.first = -1}).status(), invalid, {"first: -1, want at least 0"}));
  EXPECT_TRUE(IsError(Model().DrawPaths({.level = 3}).status(), invalid, {"level: 3, want 0 to 2"}));
  const auto paths = Model().DrawPaths({});
  ASSERT_TRUE(paths.ok()) << paths.status();
  EXPECT_TRUE(IsError((*paths)->Evaluate(Matrix::Zero(2, 3)).status(), invalid, {"x: 3 columns"}));
  Matrix bad = Matrix::Zero(1, 2);
  bad(0, 1) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(IsError((*paths)->Evaluate(bad).status(), invalid, {"x[0,1]: inf"}));
}

INSTANTIATE_TEST_SUITE_P(All, EmulatorJointContractTest,
                         ::testing::ValuesIn(EmulatorMethods().begin(), EmulatorMethods().end()), MethodName);

}  // namespace
}  // namespace fidelio
