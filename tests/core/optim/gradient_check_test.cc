#include "tests/support/gradient_check.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/function_objective.h"

namespace fidelio {
namespace {

// f = sin(x₀) + x₀ x₁² + e^{x₂}, with an error that a test may add to its gradient.
FunctionObjective Example(const Vector& error, FunctionObjective::Region accepts = nullptr) {
  return FunctionObjective(
      3,
      [error](const Vector& x, Vector* gradient) {
        if (gradient != nullptr) {
          *gradient = Vector{{std::cos(x[0]) + x[1] * x[1], 2 * x[0] * x[1], std::exp(x[2])}} + error;
        }
        return std::sin(x[0]) + x[0] * x[1] * x[1] + std::exp(x[2]);
      },
      accepts);
}

const Vector kPoint{{0.4, -1.2, 0.3}};

TEST(CheckGradientTest, ARightGradientPasses) {
  FunctionObjective f = Example(Vector::Zero(3));
  EXPECT_LT(CheckGradient(f, kPoint, 1e-3).max_relative_error, 1e-10);
}

TEST(CheckGradientTest, AWrongComponentIsFoundAndItsErrorMeasured) {
  for (int i = 0; i < 3; ++i) {
    FunctionObjective right = Example(Vector::Zero(3));
    double value;
    Vector gradient;
    ASSERT_TRUE(right.Evaluate(kPoint, &value, &gradient));
    FunctionObjective wrong = Example(1e-4 * gradient[i] * Vector::Unit(3, i));
    const GradientCheck check = CheckGradient(wrong, kPoint, 1e-3);
    EXPECT_EQ(check.worst, i);
    EXPECT_NEAR(check.max_relative_error, 1e-4, 1e-7);
  }
}

TEST(CheckGradientTest, AMissingFactorOfTwoAndAWrongSignAreFound) {
  for (const double factor : {-1.0, 0.5, 0.0}) {
    FunctionObjective f(2, [factor](const Vector& x, Vector* gradient) {
      if (gradient != nullptr) *gradient = factor * 2 * x;
      return x.squaredNorm();
    });
    EXPECT_GE(CheckGradient(f, Vector{{1, -2}}, 1e-3).max_relative_error, 0.49) << factor;
  }
}

TEST(CheckGradientTest, AWrongTinyComponentIsFoundBesideALargeOne) {
  FunctionObjective f(2, [](const Vector& x, Vector* gradient) {
    if (gradient != nullptr) *gradient = Vector{{1e3, 2}};  // the second is 1
    return 1e3 * x[0] + x[1];
  });
  const GradientCheck check = CheckGradient(f, Vector::Zero(2), 1e-3);
  EXPECT_EQ(check.worst, 1);
  EXPECT_NEAR(check.max_relative_error, 0.5, 1e-6);
}

TEST(CheckGradientTest, AStationaryPointPasses) {
  FunctionObjective f(2, [](const Vector& x, Vector* gradient) {
    if (gradient != nullptr) *gradient = 2 * x;
    return x.squaredNorm();
  });
  EXPECT_EQ(CheckGradient(f, Vector::Zero(2), 1e-3).max_relative_error, 0);
}

TEST(CheckGradientTest, ARefusedPointFails) {
  FunctionObjective f = Example(Vector::Zero(3), [](const Vector& x) { return x[0] > 1; });
  const GradientCheck check = CheckGradient(f, kPoint, 1e-3);
  EXPECT_EQ(check.max_relative_error, HUGE_VAL);
  EXPECT_EQ(check.worst, -1);
}

TEST(CheckGradientTest, ARefusedNeighbourFailsAtItsComponent) {
  FunctionObjective f = Example(Vector::Zero(3), [](const Vector& x) { return x[1] <= kPoint[1]; });
  const GradientCheck check = CheckGradient(f, kPoint, 1e-3);
  EXPECT_EQ(check.max_relative_error, HUGE_VAL);
  EXPECT_EQ(check.worst, 1);
}

TEST(CheckGradientTest, ANonFiniteGradientFails) {
  FunctionObjective f = Example(Vector{{0, 0, std::numeric_limits<double>::quiet_NaN()}});
  const GradientCheck check = CheckGradient(f, kPoint, 1e-3);
  EXPECT_EQ(check.max_relative_error, HUGE_VAL);
  EXPECT_EQ(check.worst, 2);
}

TEST(CheckGradientTest, NoParametersPass) {
  FunctionObjective f(0, [](const Vector&, Vector* gradient) {
    if (gradient != nullptr) gradient->resize(0);
    return 1.0;
  });
  const GradientCheck check = CheckGradient(f, Vector(), 1e-3);
  EXPECT_EQ(check.max_relative_error, 0);
  EXPECT_EQ(check.worst, -1);
}

}  // namespace
}  // namespace fidelio
