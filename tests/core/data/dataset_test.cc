#include "core/data/dataset.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Dataset Valid() {
  Dataset data;
  data.levels = {{.x = Matrix{{0, 1}, {0.5, 2}, {1, 3}}, .y = Vector{{1, 2, 3}}, .noise_variance = Vector()},
                 {.x = Matrix{{0.25, 1.5}, {0.75, 2.5}}, .y = Vector{{4, 5}}, .noise_variance = Vector{{0, 0.1}}}};
  data.box = InputBox{.lower = Vector{{0, 0}}, .upper = Vector{{1, 5}}};
  return data;
}

TEST(ValidateTest, AcceptsGoodData) { EXPECT_TRUE(Validate(Valid()).ok()) << Validate(Valid()); }

TEST(ValidateTest, AcceptsDataWithoutABox) {
  Dataset data = Valid();
  data.box.reset();
  EXPECT_TRUE(Validate(data).ok());
}

TEST(ValidateTest, AcceptsOneLevelWithOnePoint) {
  Dataset data;
  data.levels = {{.x = Matrix::Zero(1, 1), .y = Vector::Zero(1), .noise_variance = Vector()}};
  EXPECT_TRUE(Validate(data).ok());
}

TEST(ValidateTest, AcceptsAnEmptyUpperLevelWhateverItsColumns) {
  for (const int columns : {0, 2}) {
    Dataset data = Valid();
    data.levels.insert(data.levels.begin() + 1,
                       LevelData{.x = Matrix(0, columns), .y = Vector(), .noise_variance = {}});
    EXPECT_TRUE(Validate(data).ok()) << columns;
  }
}

TEST(ValidateTest, AcceptsInputsOutsideTheBox) {
  Dataset data = Valid();
  data.levels[0].x(0, 0) = -7;
  EXPECT_TRUE(Validate(data).ok());
}

// A rule, how data breaks it, and what the message must name: the field, its value, the rule.
struct Rule {
  const char* name;
  std::function<void(Dataset&)> breaks;
  std::vector<std::string> parts;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

class ValidateRuleTest : public testing::TestWithParam<Rule> {};

TEST_P(ValidateRuleTest, IsNamedWhenBroken) {
  Dataset data = Valid();
  GetParam().breaks(data);
  EXPECT_TRUE(IsError(Validate(data), GetParam().code, GetParam().parts));
}

const Rule kRules[] = {
    {"AtLeastOneLevel", [](Dataset& d) { d.levels.clear(); }, {"levels: 0", "1 to 64"}},
    {"AtMost64Levels", [](Dataset& d) { d.levels.resize(65); }, {"levels: 65", "1 to 64"}},
    {"LevelZeroHasData",
     [](Dataset& d) { d.levels[0] = {.x = Matrix(0, 2), .y = Vector(), .noise_variance = Vector()}; },
     {"levels[0]", "no observations", "at least one"},
     absl::StatusCode::kFailedPrecondition},
    {"InputsHaveADimension",
     [](Dataset& d) { d.levels[0].x.resize(3, 0); },
     {"levels[0].x", "0 columns", "at least 1"}},
    {"OneInputPerOutput",
     [](Dataset& d) { d.levels[1].x = Matrix::Zero(3, 2); },
     {"levels[1].x", "3 rows", "levels[1].y has 2"}},
    {"EveryLevelHasTheSameDimension",
     [](Dataset& d) { d.levels[1].x = Matrix::Zero(2, 3); },
     {"levels[1].x", "3 columns", "levels[0].x has 2"}},
    {"NoNoiseOrOnePerOutput",
     [](Dataset& d) { d.levels[1].noise_variance = Vector::Zero(3); },
     {"levels[1].noise_variance", "3 values", "none or one per observation (2)"}},
    {"InputsAreNumbers", [](Dataset& d) { d.levels[0].x(2, 1) = kNan; }, {"levels[0].x[2,1]", "nan", "finite"}},
    {"InputsAreFinite", [](Dataset& d) { d.levels[1].x(0, 1) = -kInfinity; }, {"levels[1].x[0,1]", "-inf", "finite"}},
    {"OutputsAreNumbers", [](Dataset& d) { d.levels[1].y[1] = kNan; }, {"levels[1].y[1", "nan", "finite"}},
    {"OutputsAreFinite", [](Dataset& d) { d.levels[0].y[0] = kInfinity; }, {"levels[0].y[0", "inf", "finite"}},
    {"NoiseIsANumber",
     [](Dataset& d) { d.levels[1].noise_variance[1] = kNan; },
     {"levels[1].noise_variance[1", "nan", "finite"}},
    {"NoiseIsFinite",
     [](Dataset& d) { d.levels[1].noise_variance[0] = kInfinity; },
     {"levels[1].noise_variance[0", "inf", "finite"}},
    {"NoiseIsNotNegative",
     [](Dataset& d) { d.levels[1].noise_variance[1] = -0.25; },
     {"levels[1].noise_variance[1]", "-0.25", "≥ 0"}},
    {"BoxHasALowerLimitPerDimension",
     [](Dataset& d) { d.box->lower = Vector::Zero(1); },
     {"box", "1 lower", "2 upper", "want 2"}},
    {"BoxHasAnUpperLimitPerDimension",
     [](Dataset& d) { d.box->upper = Vector::Ones(3); },
     {"box", "2 lower", "3 upper", "want 2"}},
    {"BoxHasWidth", [](Dataset& d) { d.box->upper[1] = 0; }, {"box", "dimension 1", "[0, 0]", "upper > lower"}},
    {"BoxIsNotUpsideDown",
     [](Dataset& d) { d.box->upper[0] = -2; },
     {"box", "dimension 0", "[0, -2]", "upper > lower"}},
    {"BoxLimitsAreFinite", [](Dataset& d) { d.box->upper[1] = kInfinity; }, {"box", "dimension 1", "inf", "finite"}},
    {"BoxLimitsAreNumbers", [](Dataset& d) { d.box->lower[1] = kNan; }, {"box", "dimension 1", "nan", "finite"}},
};

INSTANTIATE_TEST_SUITE_P(Rules, ValidateRuleTest, testing::ValuesIn(kRules),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace fidelio
