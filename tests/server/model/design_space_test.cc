#include "server/model/design_space.h"

#include "core/base/sobol.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

LevelData Inputs(const Matrix& x) { return {.x = x, .y = Vector::Zero(x.rows()), .noise_variance = {}}; }

TEST(DesignSpaceTest, TheBoxOfTheModelComesFirst) {
  Dataset data{.levels = {Inputs(Matrix{{7, 8}})}, .box = InputBox{.lower = Vector{{0, 1}}, .upper = Vector{{2, 3}}}};
  EXPECT_EQ(DesignBox(data).lower, Vector({{0, 1}}));
  EXPECT_EQ(DesignBox(data).upper, Vector({{2, 3}}));
}

TEST(DesignSpaceTest, WithoutABoxItIsTheRangeOfTheInputsOfAllLevels) {
  const Dataset data{.levels = {Inputs(Matrix{{1, 5}, {2, 5}}), Inputs(Matrix(0, 2)), Inputs(Matrix{{-3, 5}})},
                     .box = {}};
  EXPECT_EQ(DesignBox(data).lower, Vector({{-3, 5}}));
  EXPECT_EQ(DesignBox(data).upper, Vector({{2, 5}}));
}

TEST(DesignSpaceTest, PointsFillTheBoxAndKeepInputsThatDoNotVary) {
  const InputBox box{.lower = Vector{{-1, 5, 10}}, .upper = Vector{{1, 5, 20}}};
  const auto points = FillBox(box, 64, 3);
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->rows(), 64);
  for (int i = 0; i < 64; ++i) {
    EXPECT_GE((*points)(i, 0), -1);
    EXPECT_LE((*points)(i, 0), 1);
    EXPECT_EQ((*points)(i, 1), 5);
    EXPECT_GE((*points)(i, 2), 10);
    EXPECT_LE((*points)(i, 2), 20);
  }
  EXPECT_EQ((points->col(0).array() < 0).count(), 32);
  const auto more = FillBox(box, 100, 3);
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(Matrix(more->topRows(64)), *points);
  const auto one = FillBox({.lower = Vector{{4}}, .upper = Vector{{4}}}, 2, 0);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(*one, Matrix({{4}, {4}}));
}

TEST(DesignSpaceTest, MoreInputsThanTheSequenceHasAreRefused) {
  const Eigen::Index d = kMostSobolDimensions + 1;
  EXPECT_TRUE(IsError(FillBox({.lower = Vector::Zero(d), .upper = Vector::Ones(d)}, 2, 0).status(),
                      absl::StatusCode::kInvalidArgument, {"candidates: ", "at most 256 inputs", "has 257"}));
}

}  // namespace
}  // namespace fidelio
