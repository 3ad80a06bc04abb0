#include "core/design/initial_design.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/base/equal_rows.h"
#include "core/base/random.h"
#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

InputBox UnitBox(int d) { return {.lower = Vector::Zero(d), .upper = Vector::Ones(d)}; }
InitialLevel Level(int count, Matrix existing) { return {.count = count, .existing = std::move(existing)}; }

std::vector<Matrix> DesignOrDie(const InputBox& box, const std::vector<InitialLevel>& levels,
                                const InitialDesignOptions& options) {
  auto design = InitialDesign(box, levels, options);
  EXPECT_TRUE(design.ok()) << design.status();
  return *std::move(design);
}

double SmallestDistance(const Matrix& x) {
  double smallest = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < i; ++j) smallest = std::min(smallest, (x.row(i) - x.row(j)).norm());
  }
  return smallest;
}
double DistanceBetween(const Matrix& a, const Matrix& b) {
  double smallest = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < a.rows(); ++i)
    smallest = std::min(smallest, (b.rowwise() - a.row(i)).rowwise().norm().minCoeff());
  return smallest;
}
Matrix Together(const Matrix& a, const Matrix& b) {
  Matrix both(a.rows() + b.rows(), b.cols());
  both << a, b;
  return both;
}

class InitialDesignTest : public ::testing::TestWithParam<InitialMethod> {};

TEST_P(InitialDesignTest, FillsTheBoxWithDistinctInputsOfEveryLevel) {
  const InputBox box{.lower = Vector{{-2, 100}}, .upper = Vector{{3, 500}}};
  const auto design = DesignOrDie(box, {Level(40, Matrix(0, 2)), Level(0, Matrix(0, 2)), Level(10, Matrix(0, 2))},
                                  {.method = GetParam(), .seed = 3});
  ASSERT_EQ(design.size(), 3u);
  ASSERT_EQ(design[0].rows(), 40);
  EXPECT_EQ(design[1].rows(), 0);
  ASSERT_EQ(design[2].rows(), 10);
  for (const Matrix& x : {design[0], design[2]}) {
    for (Index d = 0; d < 2; ++d) {
      EXPECT_GE(x.col(d).minCoeff(), box.lower[d]);
      EXPECT_LE(x.col(d).maxCoeff(), box.upper[d]);
      const double width = box.upper[d] - box.lower[d];
      EXPECT_LT(x.col(d).minCoeff(), box.lower[d] + 0.15 * width);
      EXPECT_GT(x.col(d).maxCoeff(), box.upper[d] - 0.15 * width);
    }
  }
  EXPECT_EQ(FindEqualRows(Together(design[0], design[2])).count, 50);
}

TEST_P(InitialDesignTest, TheSeedDecides) {
  const auto design = [](uint64_t seed) {
    return DesignOrDie(UnitBox(3), {Level(12, Matrix(0, 3))}, {.method = GetParam(), .seed = seed})[0];
  };
  EXPECT_EQ(design(1), design(1));
  EXPECT_NE(design(1), design(2));
}

TEST_P(InitialDesignTest, KeepsAwayFromInputsThatAreThere) {
  for (const int d : {1, 2, 4}) {
    Random random(5, static_cast<uint32_t>(d));
    Matrix existing(15, d);
    for (double& v : existing.reshaped()) v = random.Uniform();
    double nearest = std::numeric_limits<double>::infinity();
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const Matrix x = DesignOrDie(UnitBox(d), {Level(15, existing)}, {.method = GetParam(), .seed = seed})[0];
      nearest = std::min(nearest, DistanceBetween(x, existing));
    }
    // A share of what each of the 30 points has for itself: 1/30 of the line, of the square, …
    EXPECT_GT(nearest, (GetParam() == InitialMethod::kSobol ? 0.24 : 0.02) * std::pow(1.0 / 30, 1.0 / d)) << d;
  }
}

TEST_P(InitialDesignTest, RunningItAgainAfterTheRunsGivesOthers) {
  const InitialDesignOptions options{.method = GetParam(), .seed = 7};
  const Matrix first = DesignOrDie(UnitBox(2), {Level(16, Matrix(0, 2))}, options)[0];
  const Matrix second = DesignOrDie(UnitBox(2), {Level(16, first)}, options)[0];
  EXPECT_EQ(FindEqualRows(Together(first, second)).count, 32);
  EXPECT_GT(DistanceBetween(second, first), 0.005);
}

TEST_P(InitialDesignTest, NestedInputsAreThoseOfTheLevelBelow) {
  const auto design =
      DesignOrDie(UnitBox(2), {Level(40, Matrix(0, 2)), Level(12, Matrix(0, 2)), Level(5, Matrix(0, 2))},
                  {.method = GetParam(), .nested = true, .seed = 1});
  EXPECT_EQ(FindEqualRows(Together(design[0], design[1])).count, 40);
  EXPECT_EQ(FindEqualRows(Together(design[1], design[2])).count, 12);
  EXPECT_EQ(FindEqualRows(design[2]).count, 5);
  // Spread out: further from each other than most of those below.
  EXPECT_GT(SmallestDistance(design[1]), 2 * SmallestDistance(design[0]));
  EXPECT_GT(SmallestDistance(design[2]), 0.4);
}

TEST_P(InitialDesignTest, NestedInputsAreAmongTheObservedOnesAndNotObservedAgain) {
  Random random(2, 0);
  Matrix low(20, 2);
  for (double& v : low.reshaped()) v = random.Uniform();
  const Matrix high = low.topRows(4);
  // Level 1 has nothing: level 2 is nested in level 0.
  const auto design = DesignOrDie(UnitBox(2), {Level(0, low), Level(0, Matrix(0, 2)), Level(6, high)},
                                  {.method = GetParam(), .nested = true});
  EXPECT_EQ(FindEqualRows(Together(low, design[2])).count, 20);
  EXPECT_EQ(FindEqualRows(Together(high, design[2])).count, 10);
  EXPECT_TRUE(
      IsError(InitialDesign(UnitBox(2), {Level(0, low), {.count = 17, .existing = high, .field = "counts[0].count"}},
                            {.method = GetParam(), .nested = true})
                  .status(),
              absl::StatusCode::kInvalidArgument, {"counts[0].count: 17", "among 16 inputs"}));
}

TEST_P(InitialDesignTest, AnInputWithoutARangeKeepsItsValue) {
  InputBox box = UnitBox(3);
  box.lower[1] = box.upper[1] = 0.25;
  const Matrix x = DesignOrDie(box, {Level(8, Matrix(0, 3))}, {.method = GetParam()})[0];
  EXPECT_EQ(x.col(1), Vector::Constant(8, 0.25));
  EXPECT_EQ(FindEqualRows(x).count, 8);
  box.lower = box.upper;
  EXPECT_TRUE(IsError(InitialDesign(box, {Level(8, Matrix(0, 3))}, {.method = GetParam()}).status(),
                      absl::StatusCode::kInvalidArgument, {"box"}));
}

TEST_P(InitialDesignTest, ManyInputsAreMadeAndACheckEndsTheWork) {
  const auto design = DesignOrDie(UnitBox(2), {Level(20000, Matrix(0, 2))}, {.method = GetParam()});
  EXPECT_EQ(FindEqualRows(design[0]).count, 20000);
  EXPECT_TRUE(IsError(InitialDesign(UnitBox(2), {Level(10, Matrix(0, 2))},
                                    {.method = GetParam(), .check = [] { return absl::CancelledError("gone"); }})
                          .status(),
                      absl::StatusCode::kCancelled, {"gone"}));
}

INSTANTIATE_TEST_SUITE_P(Methods, InitialDesignTest,
                         ::testing::Values(InitialMethod::kSobol, InitialMethod::kLatinHypercube),
                         [](const auto& method) {
                           return std::string(method.param == InitialMethod::kSobol ? "Sobol" : "LatinHypercube");
                         });

TEST(SobolDesignTest, TheSameSeedGoesOnWhereItStopped) {
  const InitialDesignOptions options{.seed = 4};
  const Matrix eight = DesignOrDie(UnitBox(1), {Level(8, Matrix(0, 1))}, options)[0];
  const Matrix next = DesignOrDie(UnitBox(1), {Level(8, eight)}, options)[0];
  const Matrix all = DesignOrDie(UnitBox(1), {Level(64, Matrix(0, 1))}, options)[0];
  EXPECT_EQ(eight, all.topRows(8));
  EXPECT_EQ(FindEqualRows(Together(all, next)).count, 64);
}

TEST(LatinDesignTest, EachCellOfEveryAxisIsUsedOnce) {
  const Matrix x =
      DesignOrDie(UnitBox(4), {Level(25, Matrix(0, 4))}, {.method = InitialMethod::kLatinHypercube, .seed = 2})[0];
  for (Index d = 0; d < 4; ++d) {
    std::vector<int> used(25, 0);
    for (const double v : x.col(d)) ++used[static_cast<int>(v * 25)];
    EXPECT_EQ(used, std::vector<int>(25, 1)) << d;
  }
}

TEST(LatinDesignTest, NewInputsTakeCellsThatNoOldOneHas) {
  const InitialDesignOptions options{.method = InitialMethod::kLatinHypercube, .seed = 2};
  const Matrix old = DesignOrDie(UnitBox(2), {Level(10, Matrix(0, 2))}, options)[0];
  const Matrix x = DesignOrDie(UnitBox(2), {Level(15, old)}, options)[0];
  for (Index d = 0; d < 2; ++d) {
    std::vector<int> used(25, 0);
    for (const double v : old.col(d)) used[static_cast<int>(v * 25)] = 1;
    for (const double v : x.col(d)) EXPECT_EQ(used[static_cast<int>(v * 25)]++, 0) << d << " " << v;
  }
}

TEST(LatinDesignTest, PointsAreFurtherApartThanInARandomOne) {
  double random_mean = 0, made_mean = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Random random(seed, 9);
    Matrix x(20, 2);
    for (Index d = 0; d < 2; ++d) {
      std::vector<int> cells(20);
      for (int i = 0; i < 20; ++i) cells[i] = i;
      for (int i = 19; i > 0; --i) std::swap(cells[i], cells[static_cast<int>(random.Uniform() * (i + 1))]);
      for (int i = 0; i < 20; ++i) x(i, d) = (cells[i] + random.Uniform()) / 20;
    }
    random_mean += SmallestDistance(x);
    made_mean += SmallestDistance(DesignOrDie(UnitBox(2), {Level(20, Matrix(0, 2))},
                                              {.method = InitialMethod::kLatinHypercube, .seed = seed})[0]);
  }
  EXPECT_GT(made_mean, 2 * random_mean);
}

}  // namespace
}  // namespace fidelio
