#include "core/data/scaled_data.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/random_matrix.h"

namespace fidelio {
namespace {

// Three levels, the middle one empty, the top one with given noise.
Dataset Example() {
  Dataset data;
  data.levels.push_back(
      {.x = 4 * RandomUniform(6, 2, 1).array() - 1, .y = RandomNormal(6, 1, 2), .noise_variance = {}});
  data.levels.push_back({.x = Matrix(0, 2), .y = Vector(), .noise_variance = {}});
  data.levels.push_back(
      {.x = 5 * RandomUniform(3, 2, 3), .y = RandomNormal(3, 1, 4), .noise_variance = Vector{{1, 2, 3}}});
  return data;
}

TEST(ScaleDataTest, StacksTheLevelsFromTheLowestUp) {
  const ScaledData s = ScaleData(Example());
  EXPECT_EQ(s.levels(), 3);
  EXPECT_EQ(s.dimension(), 2);
  EXPECT_EQ(s.offset, (std::vector<int>{0, 6, 6, 9}));
  EXPECT_EQ(s.count(0), 6);
  EXPECT_EQ(s.count(1), 0);
  EXPECT_EQ(s.count(2), 3);
  EXPECT_EQ(s.rest(0), 9);
  EXPECT_EQ(s.rest(1), 3);
  EXPECT_EQ(s.x.rows(), 9);
}

TEST(ScaleDataTest, InputsSpanTheUnitBox) {
  const ScaledData s = ScaleData(Example());
  EXPECT_TRUE(Near(s.x.colwise().minCoeff(), Matrix::Zero(1, 2), 1e-15));
  EXPECT_TRUE(Near(s.x.colwise().maxCoeff(), Matrix::Ones(1, 2), 1e-15));
}

TEST(ScaleDataTest, ABoxSetsTheScaleOfTheInputs) {
  Dataset data = Example();
  data.box = InputBox{.lower = Vector{{-10, 0}}, .upper = Vector{{10, 100}}};
  const ScaledData s = ScaleData(data);
  EXPECT_TRUE(Near(s.x.topRows(6).col(0), (data.levels[0].x.col(0).array() + 10) / 20, 1e-15));
  EXPECT_TRUE(Near(s.x.bottomRows(3).col(1), data.levels[2].x.col(1) / 100, 1e-15));
}

TEST(ScaleDataTest, LevelZeroHasMeanZeroAndUnitVariance) {
  const ScaledData s = ScaleData(Example());
  EXPECT_NEAR(s.y.head(6).mean(), 0, 1e-14);
  EXPECT_NEAR(s.y.head(6).squaredNorm() / 6, 1, 1e-13);
}

TEST(ScaleDataTest, AllLevelsShareTheMapOfTheOutputs) {
  const Dataset data = Example();
  const ScaledData s = ScaleData(data);
  const Vector back = s.y.tail(3).array() * s.scaling.output_sd + s.scaling.output_mean;
  EXPECT_TRUE(Near(back, data.levels[2].y, 1e-14));
}

TEST(ScaleDataTest, RawZeroIsTheZeroOfTheUser) {
  const ScaledData s = ScaleData(Example());
  EXPECT_NEAR(s.raw_zero * s.scaling.output_sd + s.scaling.output_mean, 0, 1e-14);
}

TEST(ScaleDataTest, GivenNoiseIsScaledLikeAVarianceAndNothingIsLearnedThere) {
  const ScaledData s = ScaleData(Example());
  EXPECT_EQ(s.learn_noise, (std::vector<bool>{true, true, false}));
  EXPECT_TRUE(Near(s.noise.tail(3), Vector{{1, 2, 3}} / (s.scaling.output_sd * s.scaling.output_sd), 1e-14));
  EXPECT_TRUE((s.noise.head(6).array() == 0).all());
}

TEST(ScaleDataTest, ScalingTakesQueriesWhereTheDataWent) {
  const Dataset data = Example();
  const ScaledData s = ScaleData(data);
  EXPECT_EQ(s.scaling.ScaleInputs(data.levels[0].x), s.x.topRows(6));
}

class ScaleDataUnitTest : public testing::TestWithParam<double> {};

TEST_P(ScaleDataUnitTest, TheUnitOfTheOutputsDoesNotMatter) {
  const double unit = GetParam();
  Dataset data = Example();
  const ScaledData expected = ScaleData(data);
  for (LevelData& level : data.levels) {
    level.y *= unit;
    level.noise_variance *= unit;
    level.noise_variance *= unit;
  }
  const ScaledData s = ScaleData(data);
  EXPECT_TRUE(Near(s.y, expected.y, 1e-12));
  EXPECT_TRUE(Near(s.noise, expected.noise, 1e-12));
  EXPECT_NEAR(s.raw_zero, expected.raw_zero, 1e-12);
  EXPECT_NEAR(s.scaling.output_sd / unit, expected.scaling.output_sd, 1e-12);
}

TEST_P(ScaleDataUnitTest, TheUnitOfTheInputsDoesNotMatter) {
  Dataset data = Example();
  const Matrix expected = ScaleData(data).x;
  for (LevelData& level : data.levels) level.x *= GetParam();
  EXPECT_TRUE(Near(ScaleData(data).x, expected, 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Units, ScaleDataUnitTest, testing::Values(1e-140, 1e-12, 1e12, 1e140));

TEST(ScaleDataLimitTest, OutputsNearTheLargestDoubleStayFinite) {
  Dataset data = Example();
  for (LevelData& level : data.levels) {
    level.y *= 1e307;
    level.noise_variance.resize(0);
  }
  const ScaledData s = ScaleData(data);
  EXPECT_TRUE(s.y.allFinite());
  EXPECT_TRUE(Near(s.y, ScaleData(Example()).y, 1e-12));
}

class ConstantOutputTest : public testing::TestWithParam<double> {};

TEST_P(ConstantOutputTest, BecomesZeroInAFiniteUnit) {
  Dataset data = Example();
  for (LevelData& level : data.levels) level.y.setConstant(GetParam());
  const ScaledData s = ScaleData(data);
  EXPECT_TRUE(Near(s.y, Vector::Zero(9), 1e-12));
  EXPECT_TRUE(s.noise.allFinite());
  EXPECT_TRUE(std::isfinite(s.scaling.output_sd));
  EXPECT_GT(s.scaling.output_sd, 0);
}

TEST_P(ConstantOutputTest, OfLevelZeroLeavesTheOthersOfOrderOne) {
  Dataset data = Example();
  data.levels[0].y.setConstant(GetParam());
  const ScaledData s = ScaleData(data);
  EXPECT_TRUE(s.y.allFinite());
  EXPECT_LE(s.y.cwiseAbs().maxCoeff(), 2.5);
}

INSTANTIATE_TEST_SUITE_P(Values, ConstantOutputTest, testing::Values(0, 0.1, -7, 1e12, -1e-12));

TEST(ScaleDataLimitTest, AConstantInputColumnBecomesZeroWithWidthOne) {
  Dataset data = Example();
  for (LevelData& level : data.levels) level.x.col(1).setConstant(3);
  const ScaledData s = ScaleData(data);
  EXPECT_EQ(s.scaling.input_width[1], 1);
  EXPECT_TRUE((s.x.col(1).array() == 0).all());
}

TEST(ScaleDataLimitTest, OnePointIsScaledToTheOrigin) {
  Dataset data;
  data.levels = {{.x = Matrix{{5, -2}}, .y = Vector{{3}}, .noise_variance = {}}};
  const ScaledData s = ScaleData(data);
  EXPECT_EQ(s.x, Matrix::Zero(1, 2));
  EXPECT_EQ(s.y, Vector::Zero(1));
}

TEST(ScaleDataTest, WithoutTheLowestLevelsInputsKeepTheirScaleAndOutputsGetTheirOwn) {
  const Dataset data = Example();
  const ScaledData whole = ScaleData(data), part = ScaleData(data, 2);
  EXPECT_EQ(part.levels(), 1);
  EXPECT_EQ(part.scaling.input_low, whole.scaling.input_low);
  EXPECT_EQ(part.scaling.input_width, whole.scaling.input_width);
  EXPECT_EQ(part.x, whole.x.bottomRows(part.x.rows()));
  EXPECT_NEAR(part.y.head(part.count(0)).mean(), 0, 1e-12);
  EXPECT_NEAR(part.y.head(part.count(0)).squaredNorm() / part.count(0), 1, 1e-12);
}

}  // namespace
}  // namespace fidelio
