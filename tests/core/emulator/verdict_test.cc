#include "core/emulator/verdict.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/base/sobol.h"
#include "gtest/gtest.h"
#include "tests/support/gaussian_emulator.h"

namespace fidelio {
namespace {

// n observations with these shares of them beyond the 95 % intervals and within the 50 % intervals; R² is near 1.
LeaveOneOut LeftOutOf(int n, int beyond95, int within50, double error = 0.01) {
  LeaveOneOut at{.y = Vector::LinSpaced(n, 0, 10),
                 .mean = {},
                 .variance = Vector::Ones(n),
                 .cdf = Vector(n),
                 .log_density = Vector::Zero(n)};
  at.mean = at.y.array() + error;
  for (int i = 0; i < n; ++i) at.cdf[i] = i < beyond95 ? 0.999 : i < beyond95 + within50 ? 0.5 : 0.85;
  return at;
}

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ExpectedWithinTest, IsTheCentralRangeOfABinomialDistribution) {
  const ExpectedCounts ten = ExpectedWithin(10, 0.95), twenty = ExpectedWithin(20, 0.5);
  EXPECT_EQ(ten.least, 8);  // P(X ≤ 7) = 0.0115, P(X ≤ 8) = 0.086
  EXPECT_EQ(ten.most, 10);
  EXPECT_EQ(twenty.least, 6);  // P(X ≤ 5) = 0.0207
  EXPECT_EQ(twenty.most, 14);
  const ExpectedCounts many = ExpectedWithin(100000, 0.5);
  EXPECT_NEAR(static_cast<double>(many.least), 50000 - 310, 2);
  EXPECT_NEAR(static_cast<double>(many.most), 50000 + 310, 2);
  EXPECT_EQ(ExpectedWithin(0, 0.5).most, 0);
}

TEST(VerdictTest, NineInputsAreTooFewHoweverGoodTheyLook) {
  const Verdict verdict = Judge(LeftOutOf(9, 0, 5), 9, "high");
  EXPECT_EQ(verdict.kind, VerdictKind::kTooFew);
  EXPECT_EQ(verdict.distinct_count, 9);
  EXPECT_EQ(verdict.more_needed, 1);
  EXPECT_TRUE(Contains(verdict.text, "9 distinct inputs")) << verdict.text;
  EXPECT_TRUE(Contains(verdict.text, "1 more is needed")) << verdict.text;
  const Verdict ten = Judge(LeftOutOf(10, 0, 5), 10, "high");
  EXPECT_EQ(ten.kind, VerdictKind::kCalibrated);
  EXPECT_EQ(ten.more_needed, 0);
}

TEST(VerdictTest, WithoutObservationsItSaysHowManyWouldTell) {
  const Verdict verdict = Judge(LeaveOneOut(), 0, "high");
  EXPECT_EQ(verdict.kind, VerdictKind::kTooFew);
  EXPECT_EQ(verdict.more_needed, kLeastDistinct);
  EXPECT_TRUE(Contains(verdict.text, "no observations of fidelity \"high\"")) << verdict.text;
}

TEST(VerdictTest, FewInputsThatAlreadyFailSaySo) {
  const Verdict verdict = Judge(LeftOutOf(6, 4, 1), 6, "high");
  EXPECT_EQ(verdict.kind, VerdictKind::kTooFew);
  EXPECT_TRUE(Contains(verdict.text, "already fewer than chance explains")) << verdict.text;
}

TEST(VerdictTest, EachKindHasItsRule) {
  EXPECT_EQ(Judge(LeftOutOf(20, 1, 10), 20, "high").kind, VerdictKind::kCalibrated);
  EXPECT_EQ(Judge(LeftOutOf(20, 4, 10), 20, "high").kind, VerdictKind::kOverconfident);
  EXPECT_EQ(Judge(LeftOutOf(20, 1, 10, 4), 20, "high").kind, VerdictKind::kUninformative);
  EXPECT_EQ(Judge(LeftOutOf(20, 0, 15), 20, "high").kind, VerdictKind::kCautious);
  EXPECT_EQ(Judge(LeftOutOf(20, 0, 14), 20, "high").kind, VerdictKind::kCalibrated);
  const std::string text = Judge(LeftOutOf(20, 4, 10), 20, "high").text;
  EXPECT_TRUE(Contains(text, "16 of 20")) << text;
  EXPECT_TRUE(Contains(text, "do not rely on the intervals")) << text;
}

TEST(VerdictTest, ConstantOutputsAreNotUninformative) {
  LeaveOneOut left_out = LeftOutOf(20, 1, 10);
  left_out.y.setConstant(3);
  left_out.mean.setConstant(3);
  EXPECT_EQ(Judge(left_out, 20, "high").kind, VerdictKind::kCalibrated);
}

// Twelve inputs, of which four fail: the same verdict when everything was loaded twice, or only what holds was.
TEST(VerdictTest, CopiesCountOnce) {
  const LeaveOneOut once = LeftOutOf(12, 4, 6);
  LeaveOneOut twice = LeftOutOf(24, 0, 0);
  for (int i = 0; i < 24; ++i) {
    twice.y[i] = once.y[i % 12];
    twice.mean[i] = once.mean[i % 12];
    twice.cdf[i] = once.cdf[i % 12];
    twice.group.push_back(i % 12);
  }
  EXPECT_EQ(Judge(once, 12, "high").text, Judge(twice, 12, "high").text);
  EXPECT_EQ(Judge(twice, 12, "high").kind, VerdictKind::kOverconfident);
  LeaveOneOut padded = LeftOutOf(112, 4, 56);
  for (int i = 0; i < 112; ++i) padded.group.push_back(i < 11 ? i : 11);
  EXPECT_EQ(Judge(padded, 12, "high").kind, VerdictKind::kOverconfident);
}

TEST(RegularInputsTest, FindsEvenSpacingAlsoWhenRounded) {
  Matrix x(10, 3);
  Random random(1, 0);
  for (int i = 0; i < 10; ++i) {
    const int place = (3 * i) % 10;  // the order does not matter
    x(i, 0) = std::round((0.02 + 0.95 * place / 9) * 1000) / 1000;
    x(i, 1) = random.Uniform();
    x(i, 2) = 5;
  }
  const std::vector<RegularInput> found = FindRegularInputs(x);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].input, 0);
  EXPECT_EQ(found[0].values, 10);
  EXPECT_NEAR(found[0].spacing, 0.95 / 9, 1e-3);
}

TEST(RegularInputsTest, AFullGridIsRegularInEveryInput) {
  Matrix grid(30, 2);
  for (int i = 0; i < 30; ++i) grid.row(i) << i / 5, 10 * (i % 5);
  EXPECT_EQ(FindRegularInputs(grid).size(), 2u);
}

TEST(RegularInputsTest, FourValuesAreNot) {
  EXPECT_TRUE(FindRegularInputs(Matrix{{0}, {1}, {2}, {3}}).empty());
  EXPECT_EQ(FindRegularInputs(Matrix{{0}, {1}, {2}, {3}, {4}}).size(), 1u);
  EXPECT_TRUE(FindRegularInputs(Matrix{{0}, {1}, {2}, {3}, {4.5}}).empty());
  EXPECT_TRUE(FindRegularInputs(Matrix(0, 1)).empty());
}

TEST(RegularInputsTest, DesignsThatFillTheBoxAreNot) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (const int n : {5, 8, 16, 40}) {
      const Matrix x = *ScrambledSobol(n, Vector::Zero(3), Vector::Ones(3), seed);
      EXPECT_TRUE(FindRegularInputs(x).empty()) << "seed " << seed << ", " << n << " points";
    }
  }
}

// What a model of two levels, one input, knows.
Dataset DataAt(const Matrix& x) {
  Dataset data;
  data.levels.resize(2);
  for (LevelData& level : data.levels) {
    level.x = x;
    level.y = x.col(0);
  }
  return data;
}

TEST(VerdictTest, WarnsOfMeansFarFromTheirMedians) {
  const GaussianEmulator model;
  Dataset data = DataAt(Vector::LinSpaced(12, 0.02, 0.97));
  data.levels[1].x(3, 0) += 0.03;
  std::vector<LeaveOneOut> left_out(2, LeftOutOf(12, 1, 6));
  left_out[1].median = left_out[1].mean;
  left_out[1].mean_cdf = Vector::Constant(12, 0.5);
  const VerdictContext context{.model = &model, .data = &data, .fidelities = {"low", "high"}};
  EXPECT_TRUE(JudgeModel(context, left_out)->warnings.empty());
  left_out[1].mean_cdf[4] = 0.9;
  ASSERT_EQ(JudgeModel(context, left_out)->warnings.size(), 1u);
  EXPECT_TRUE(
      Contains(JudgeModel(context, left_out)->warnings[0], "1 of 12 left-out observations of fidelity \"high\""));
}

TEST(VerdictTest, WarnsOfEvenSpacingAndOfCopies) {
  const GaussianEmulator model;
  Dataset data = DataAt(Vector::LinSpaced(12, 0.02, 0.97));
  const std::vector<LeaveOneOut> left_out(2, LeftOutOf(12, 1, 6));
  VerdictContext context{.model = &model, .data = &data, .fidelities = {"low", "high"}};
  const auto even = JudgeModel(context, left_out);
  ASSERT_TRUE(even.ok()) << even.status();
  EXPECT_EQ(even->kind, VerdictKind::kCalibrated);
  ASSERT_EQ(even->warnings.size(), 1u);
  EXPECT_TRUE(
      Contains(even->warnings[0], "12 values of input x1 at fidelity \"high\" are evenly spaced, 0.08636 apart"))
      << even->warnings[0];
  context.input_names = {"angle"};
  EXPECT_TRUE(Contains(JudgeModel(context, left_out)->warnings.at(0), "input angle"));

  data.levels[1].x(3, 0) += 0.03;
  EXPECT_TRUE(JudgeModel(context, left_out)->warnings.empty());
  data.levels[1].x.row(7) = data.levels[1].x.row(6);
  data.levels[1].y[7] = data.levels[1].y[6];
  data.levels[1].x.row(9) = data.levels[1].x.row(6);
  const auto copies = JudgeModel(context, left_out);
  EXPECT_EQ(copies->distinct_count, 10);
  ASSERT_EQ(copies->warnings.size(), 1u);
  EXPECT_TRUE(Contains(copies->warnings[0], "2 of 12 observations of fidelity \"high\" repeat the inputs of others"))
      << copies->warnings[0];
  EXPECT_TRUE(Contains(copies->warnings[0], "1 repeats the output, too")) << copies->warnings[0];
}

}  // namespace
}  // namespace fidelio
