#include "core/optim/adam.h"

#include "gtest/gtest.h"

namespace fidelio {
namespace {

TEST(AdamTest, TheFirstStepHasTheLengthOfTheRateWhateverTheGradient) {
  AdamState state;
  Vector x = Vector::Zero(3);
  StepAdam(0.01, Vector{{1e-3, -5.0, 0.0}}, &state, &x);
  EXPECT_NEAR(x[0], 0.01, 1e-6);
  EXPECT_NEAR(x[1], -0.01, 1e-6);
  EXPECT_EQ(x[2], 0);
}

TEST(AdamTest, ClimbsToTheTopOfAParabola) {
  AdamState state;
  Vector x = Vector::Zero(2);
  const Vector top{{0.3, -2.0}};
  for (int i = 0; i < 20000; ++i) StepAdam(0.003, 2 * (top - x), &state, &x);
  EXPECT_LT((x - top).norm(), 1e-3);
}

}  // namespace
}  // namespace fidelio
