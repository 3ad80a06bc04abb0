#include "core/neighbour/vecchia_objective.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/neighbour/vecchia_sets.h"
#include "gtest/gtest.h"
#include "tests/core/neighbour/stack_cases.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_names.h"

namespace fidelio {
namespace {

struct ObjectiveCase {
  KernelFamily kernel;
  int level;
  bool given_noise;
};

class VecchiaObjectiveTest : public ::testing::TestWithParam<ObjectiveCase> {
 protected:
  // A stack whose last level, GetParam().level, has data but no layer yet.
  NeighbourStack Begun(int m) {
    NeighbourStack stack(m);
    const Scaling scaling = ScaleData(data_).scaling;
    for (int t = 0; t <= GetParam().level; ++t) {
      stack.AddData(ScaledLevel(data_.levels[t], scaling), 1);
      if (t < GetParam().level) stack.Complete(GetParam().kernel, FirstTheta(2, !GetParam().given_noise));
    }
    return stack;
  }
  VecchiaObjective Objective(const NeighbourStack& stack, int threads) {
    const auto sets = VecchiaSets(stack.data(GetParam().level).x, Vector::Ones(2), stack.neighbours(), 70, 3, threads);
    return VecchiaObjective(stack, GetParam().kernel, sets, threads);
  }
  Vector Theta() const {
    return GetParam().level == 0 ? FirstTheta(2, !GetParam().given_noise) : UpperTheta(2, !GetParam().given_noise);
  }

  const Dataset data_ = StackData({70, 60}, 2, GetParam().given_noise);
};

TEST_P(VecchiaObjectiveTest, GradientAgreesWithDifferences) {
  const NeighbourStack stack = Begun(9);
  VecchiaObjective objective = Objective(stack, 2);
  EXPECT_LT(CheckGradient(objective, objective.Whitened(Theta()), 1e-5).max_relative_error, 1e-6);
}

TEST_P(VecchiaObjectiveTest, IsTheExactLikelihoodWhenAllBeforeAreNeighbours) {
  const NeighbourStack stack = Begun(1000);
  Dataset data = data_;
  data.levels.resize(GetParam().level + 1);
  const auto model =
      std::make_shared<const MomentModel>(ScaleData(data, 0, ScaleData(data_).scaling), PlainRecipe(GetParam().kernel));
  MomentRecursion recursion(model);
  ASSERT_TRUE(recursion.Forward(ExactTheta(data)).ok());
  const double exact = recursion.log_likelihood() - recursion.log_likelihood_below(GetParam().level);
  EXPECT_NEAR(Objective(stack, 1).NegativeLogLikelihood(Theta()), -exact, 1e-8 * std::abs(exact));
}

TEST_P(VecchiaObjectiveTest, DoesNotDependOnThreads) {
  const NeighbourStack stack = Begun(9);
  double one, many;
  Vector one_gradient, many_gradient;
  VecchiaObjective a = Objective(stack, 1), b = Objective(stack, 3);
  ASSERT_TRUE(a.Evaluate(a.Whitened(Theta()), &one, &one_gradient));
  ASSERT_TRUE(b.Evaluate(b.Whitened(Theta()), &many, &many_gradient));
  EXPECT_EQ(one, many);
  EXPECT_EQ(one_gradient, many_gradient);
}

INSTANTIATE_TEST_SUITE_P(Layers, VecchiaObjectiveTest,
                         ::testing::Values(ObjectiveCase{KernelFamily::kRbf, 0, false},
                                           ObjectiveCase{KernelFamily::kMatern32, 0, true},
                                           ObjectiveCase{KernelFamily::kMatern12, 0, false},
                                           ObjectiveCase{KernelFamily::kMatern12, 1, false},
                                           ObjectiveCase{KernelFamily::kMatern52, 0, false},
                                           ObjectiveCase{KernelFamily::kMatern52, 1, false},
                                           ObjectiveCase{KernelFamily::kMatern32, 1, true}),
                         [](const auto& test) {
                           return KernelName(test.param.kernel) +
                                  std::string(test.param.level == 0 ? "First" : "Upper") +
                                  (test.param.given_noise ? "GivenNoise" : "");
                         });

TEST(VecchiaSetsTest, PointsAreConditionedOnEarlierOnesOnly) {
  const Matrix x = RandomUniform(2, 6000, 1);
  const auto sets = VecchiaSets(x, Vector::Ones(2), 10, 500, 7, 2);
  ASSERT_EQ(sets.size(), 500);
  // In the order of a valid factorisation no two points are conditioned on each other.
  std::set<std::pair<int, int>> arrows;
  for (const auto& set : sets) {
    EXPECT_LE(set.size(), 11);  // fewer for the first points of the order
    for (size_t k = 1; k < set.size(); ++k) {
      EXPECT_NE(set[k], set[0]);
      EXPECT_EQ(arrows.count({set[k], set[0]}), 0);
      arrows.insert({set[0], set[k]});
    }
  }
  EXPECT_EQ(std::count_if(sets.begin(), sets.end(), [](const auto& set) { return set.size() < 11; }), 1);
  EXPECT_EQ(sets, VecchiaSets(x, Vector::Ones(2), 10, 500, 7, 1));
}

TEST(VecchiaSetsTest, NeighboursAreNearInScaledInputs) {
  const Matrix x = RandomUniform(2, 20000, 1);
  const auto spread = [&](const Vector& inverse, int d) {
    double sum = 0;
    for (const auto& set : VecchiaSets(x, inverse, 10, 200, 7, 2)) {
      for (size_t k = 1; k < set.size(); ++k) sum += std::abs(x(d, set[k]) - x(d, set[0]));
    }
    return sum;
  };
  const Vector even = Vector::Ones(2), uneven = Eigen::Vector2d(10, 0.1);
  EXPECT_LT(spread(uneven, 0), 0.3 * spread(even, 0));
  EXPECT_GT(spread(uneven, 1), 3 * spread(even, 1));
}

}  // namespace
}  // namespace fidelio
