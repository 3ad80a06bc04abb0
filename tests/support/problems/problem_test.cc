#include "tests/support/problems/problem.h"

#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace fidelio {
namespace {

using std::numbers::e;
using std::numbers::pi;

double At(const char* name, int level, const Vector& x) {
  const absl::StatusOr<const Problem*> problem = FindProblem(name);
  EXPECT_TRUE(problem.ok()) << problem.status();
  return problem.ok() ? (*problem)->function(level, x) : NAN;
}

TEST(ProblemTest, EveryProblemIsComplete) {
  std::set<std::string> names;
  for (const Problem& p : AllProblems()) {
    SCOPED_TRACE(p.name);
    EXPECT_TRUE(names.insert(p.name).second) << "the name is taken";
    EXPECT_FALSE(p.about.empty());
    EXPECT_GE(p.levels(), 2);
    ASSERT_EQ(p.lower.size(), p.upper.size());
    EXPECT_TRUE((p.lower.array() < p.upper.array()).all());
    ASSERT_EQ(static_cast<int>(p.sizes.size()), p.levels());
    EXPECT_TRUE(p.noises.empty() || static_cast<int>(p.noises.size()) == p.levels());
    EXPECT_EQ(p.costs.back(), 1);
    for (int t = 0; t < p.levels(); ++t) {
      EXPECT_GE(p.sizes[t], 4);
      EXPECT_TRUE(t == 0 || p.costs[t - 1] < p.costs[t]);
      EXPECT_TRUE(std::isfinite(p.function(t, 0.5 * (p.lower + p.upper))));
    }
  }
}

TEST(ProblemTest, TheSetSpansOneToTenInputsAndFourToFortyHighFidelityPoints) {
  std::set<int> dimensions;
  std::set<int> sizes;
  for (const Problem& p : AllProblems()) {
    dimensions.insert(p.dimension());
    sizes.insert(p.sizes.back());
  }
  EXPECT_GE(AllProblems().size(), 24u);
  EXPECT_EQ(*dimensions.begin(), 1);
  EXPECT_EQ(*dimensions.rbegin(), 10);
  EXPECT_EQ(*sizes.begin(), 4);
  EXPECT_EQ(*sizes.rbegin(), 40);
}

TEST(ProblemTest, AnUnknownNameIsNamed) {
  const absl::StatusOr<const Problem*> problem = FindProblem("nothing");
  EXPECT_EQ(problem.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(problem.status().message().find("\"nothing\""), absl::string_view::npos);
}

// Values published with the functions, or of a row of the paper's data.
TEST(Table1Test, BraninHasItsMinimumDividedByOneHundred) {
  EXPECT_NEAR(At("branin", 2, Vector{{-pi, 12.275}}), 0.00397887357729739, 1e-15);
}

TEST(Table1Test, BraninLowFidelityEqualsThePapersData) {
  EXPECT_NEAR(At("branin", 0, Vector{{-4.46875, 12.65625}}), -1.6196810868016751, 1e-14);
}

TEST(Table1Test, HartmannHasItsMaximum) {
  EXPECT_NEAR(At("hartmann3", 2, Vector{{0.114614, 0.555649, 0.852547}}), 3.86278, 1e-5);
}

TEST(Table1Test, HartmannLowFidelityEqualsThePapersData) {
  EXPECT_NEAR(At("hartmann3", 0, Vector{{0.79375, 0.50625, 0.49375}}), 0.32123260396480063, 1e-14);
}

TEST(Table1Test, CurrinEqualsThePapersDataInBothReadings) {
  const Vector low{{0.70833333333333337, 0.625}};
  const Vector high{{0.7415, 0.1225}};
  EXPECT_NEAR(At("currin", 0, low), 5.922166441754432, 1e-13);
  EXPECT_NEAR(At("currin", 1, high), 10.432460052849612, 1e-13);
  EXPECT_NEAR(At("currin_paper", 0, low), -3.8053695526591946, 1e-13);
  EXPECT_NEAR(At("currin_paper", 1, high), 0.82087771957904709, 1e-13);
}

TEST(Table1Test, CurrinIsFiniteWhereTheSecondInputVanishes) {
  EXPECT_DOUBLE_EQ(At("currin", 1, Vector{{0, 0}}), 3);  // 60/20
  EXPECT_TRUE(std::isfinite(At("currin", 0, Vector{{0.5, 0}})));
}

TEST(Table1Test, ParkEqualsThePapersData) {
  EXPECT_NEAR(At("park", 1, Vector{{0.3865, 0.3375, 0.6735, 0.7695}}), 13.911012775450917, 1e-13);
  EXPECT_NEAR(At("park", 0, Vector{{0.05, 0.38333333333333336, 0.95, 0.85}}), 17.97144890265383, 1e-13);
}

TEST(Table1Test, BoreholeEqualsThePapersTestData) {
  const Vector x{{0.13555, 16342.45, 78172.375, 1003.74, 68.73385, 762.22, 1478.12, 10686.105}};
  EXPECT_NEAR(At("borehole", 1, x), 0.99660968175628772, 1e-14);
}

TEST(OneDimensionalTest, ForresterHasItsKnownMinimum) {
  EXPECT_NEAR(At("forrester", 1, Vector{{0.7572487}}), -6.02074, 1e-5);
  EXPECT_NEAR(At("forrester", 0, Vector{{0.5}}), 0.5 * std::sin(2) - 5, 1e-15);
}

TEST(OneDimensionalTest, TheFourFidelitiesOfForresterMeetAtOneHalf) {
  const Vector x{{0.5}};
  EXPECT_NEAR(At("forrester4", 3, x), std::sin(2), 1e-15);
  EXPECT_NEAR(At("forrester4", 2, x), 0.0625 * std::sin(2), 1e-15);
  EXPECT_NEAR(At("forrester4", 1, x), 0.75 * std::sin(2) - 2, 1e-15);
  EXPECT_NEAR(At("forrester4", 0, x), 0.5 * std::sin(2) - 5, 1e-15);
}

TEST(OneDimensionalTest, TheAppendixOfThePaperByHand) {
  EXPECT_NEAR(At("linear_a", 0, Vector{{0.5}}), 0.5 * std::sin(2) + 5, 1e-15);
  EXPECT_NEAR(At("linear_b", 1, Vector{{1}}), 5 * std::sin(12), 1e-14);
  EXPECT_NEAR(At("linear_b", 0, Vector{{0}}), 0.5 * std::sin(0.5) + 4, 1e-15);
  EXPECT_NEAR(At("nonlinear_a", 0, Vector{{1.0 / 16}}), 1, 1e-15);
  EXPECT_NEAR(At("nonlinear_a", 1, Vector{{1.0 / 16}}), 1.0 / 16 - std::sqrt(2), 1e-15);
  EXPECT_NEAR(At("nonlinear_b", 0, Vector{{0}}), 1, 1e-15);
  EXPECT_NEAR(At("nonlinear_b", 1, Vector{{0.1}}), 0.1 * e - 1, 1e-14);
}

TEST(ClassicTest, KnownMinima) {
  EXPECT_NEAR(At("bohachevsky", 1, Vector{{0, 0}}), 0, 1e-15);
  EXPECT_NEAR(At("booth", 1, Vector{{1, 3}}), 0, 1e-15);
  EXPECT_NEAR(At("camel", 1, Vector{{0.0898, -0.7126}}), -1.0316, 1e-4);
  EXPECT_NEAR(At("himmelblau", 1, Vector{{3, 2}}), 0, 1e-15);
  EXPECT_NEAR(At("rosenbrock2", 2, Vector{{1, 1}}), 0, 1e-15);
  EXPECT_NEAR(At("rastrigin", 2, Vector{{0.1, 0.1}}), 0, 1e-15);
  EXPECT_NEAR(At("ackley", 1, Vector{{0, 0}}), 0, 1e-14);
  EXPECT_NEAR(At("paciorek", 1, Vector::Constant(2, std::sqrt(2 / (3 * pi)))), -1, 1e-14);
  EXPECT_NEAR(At("branin2", 1, Vector{{pi, 2.275}}), 0.397887 - 22.5 * 2.275, 1e-6);
}

TEST(ClassicTest, LowFidelitiesByHand) {
  EXPECT_NEAR(At("booth", 0, Vector{{0, 0}}), 74, 1e-13);
  EXPECT_NEAR(At("camel", 0, Vector{{0, 0}}), -15, 1e-15);
  EXPECT_NEAR(At("himmelblau", 0, Vector{{0, 0}}), 169, 1e-13);
  EXPECT_NEAR(At("rosenbrock2", 1, Vector{{1, 1}}), 8, 1e-14);
  EXPECT_NEAR(At("rosenbrock2", 0, Vector{{1, 1}}), -5 / 10.5, 1e-15);
}

TEST(EngineeringTest, KnownValues) {
  // The aeroplane of Forrester et al. (2008), with 11.136 pounds of paint.
  EXPECT_NEAR(At("wing_weight", 2, Vector{{174, 252, 7.52, 0, 34, 0.672, 0.12, 3.8, 2000, 0.064}}), 244.96715, 1e-5);
  // With equal masses and springs the modes have the frequencies 1 and √3.
  const double exact = 0.5 * (std::cos(6) + std::cos(6 * std::sqrt(3)));
  EXPECT_NEAR(At("springs", 1, Vector::Ones(4)), exact, 1e-7);
  EXPECT_GT(std::abs(At("springs", 0, Vector::Ones(4)) - exact), 1e-3);
}

TEST(HighDimensionalTest, KnownMinima) {
  EXPECT_NEAR(At("hartmann6", 1, Vector{{0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573}}),
              -(2.58 + 3.32237) / 1.94, 1e-5);
  EXPECT_NEAR(At("trid10", 1, Vector{{10, 18, 24, 28, 30, 30, 28, 24, 18, 10}}), -210, 1e-12);
  EXPECT_NEAR(At("styblinski_tang", 1, Vector::Constant(4, -2.903534)), -39.16617 * 4, 1e-4);
  EXPECT_NEAR(At("rosenbrock5", 1, Vector::Ones(5)), 0, 1e-15);
  EXPECT_NEAR(At("ishigami", 1, Vector{{pi / 2, pi / 2, 0}}), 8, 1e-14);
}

TEST(HardLinkTest, BothLevelsJumpAtOneHalf) {
  for (int level : {0, 1}) {
    const double left = At("jump", level, Vector{{0.5 - 1e-9}});
    const double right = At("jump", level, Vector{{0.5}});
    EXPECT_NEAR(right - left, level == 0 ? 3 : 10, 1e-6);
  }
}

}  // namespace
}  // namespace fidelio
