#include "core/optim/hmc.h"

#include <Eigen/LU>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/base/normal.h"
#include "gtest/gtest.h"
#include "tests/support/function_objective.h"
#include "tests/support/near.h"

namespace fidelio {
namespace {

const Matrix kCovariance{{1, 0.8, -0.3}, {0.8, 2, 0.4}, {-0.3, 0.4, 0.5}};
const Vector kMean{{1, -2, 0.5}};

FunctionObjective Gaussian(const Vector& mean, const Matrix& covariance) {
  const Matrix precision = covariance.inverse();
  return FunctionObjective(static_cast<int>(mean.size()), [mean, precision](const Vector& x, Vector* gradient) {
    const Vector g = precision * (x - mean);
    if (gradient != nullptr) *gradient = g;
    return 0.5 * g.dot(x - mean);
  });
}

HmcSpace Plain(int n) { return {.origin = Vector::Zero(n), .basis = Matrix::Identity(n, n)}; }

// A statistic's average over a chain with its standard error by batch means.
struct Estimate {
  double mean, error;
};
Estimate BatchMeans(const std::vector<double>& values) {
  const int batches = 50, length = static_cast<int>(values.size()) / batches;
  Vector means = Vector::Zero(batches);
  for (int b = 0; b < batches; ++b) {
    for (int i = 0; i < length; ++i) means[b] += values[b * length + i] / length;
  }
  return {means.mean(), std::sqrt((means.array() - means.mean()).square().sum() / (batches - 1) / batches)};
}

void ExpectEstimate(const std::vector<double>& values, double truth, double largest_error) {
  const Estimate estimate = BatchMeans(values);
  EXPECT_LT(estimate.error, largest_error) << "the chain mixes too badly to show anything";
  EXPECT_NEAR(estimate.mean, truth, 4 * estimate.error);
}

// x of all transitions after warm-up.
std::vector<Vector> Sample(Objective& objective, const HmcSpace& space, const Vector& q, int transitions,
                           const HmcOptions& options, uint32_t chain, HmcState* state) {
  EXPECT_TRUE(StartHmc(objective, space, q, state));
  std::vector<Vector> draws;
  for (int i = 0; i < options.warmup + transitions; ++i) {
    StepHmc(objective, space, options, 1, chain, state);
    if (i >= options.warmup) draws.push_back(space.origin + space.basis * state->q);
  }
  return draws;
}

void ExpectMoments(const std::vector<Vector>& draws) {
  for (int i = 0; i < 3; ++i) {
    std::vector<double> values;
    for (const Vector& x : draws) values.push_back(x[i]);
    ExpectEstimate(values, kMean[i], 0.05);
    for (int j = 0; j <= i; ++j) {
      values.clear();
      for (const Vector& x : draws) values.push_back((x[i] - kMean[i]) * (x[j] - kMean[j]));
      ExpectEstimate(values, kCovariance(i, j), 0.1);
    }
  }
}

TEST(HmcTest, SamplesACorrelatedGaussian) {
  FunctionObjective f = Gaussian(kMean, kCovariance);
  HmcState state;
  ExpectMoments(Sample(f, Plain(3), Vector::Zero(3), 20000, {}, 0, &state));
}

TEST(HmcTest, TheBasisChangesTheCoordinatesNotTheTarget) {
  FunctionObjective f = Gaussian(kMean, kCovariance);
  const HmcSpace space{.origin = Vector{{3, 0, -1}}, .basis = Matrix{{1, 0.5, 0}, {-0.5, 1, 0.3}, {0, 0, 0.6}}};
  HmcState state;
  ExpectMoments(Sample(f, space, Vector::Zero(3), 20000, {}, 0, &state));
}

TEST(HmcTest, NeverEntersTheRegionWhereTheObjectiveCantBeEvaluated) {
  // A standard normal cut off at ½: its mean is −φ(½)/Φ(½).
  FunctionObjective f(
      1,
      [](const Vector& x, Vector* gradient) {
        if (gradient != nullptr) *gradient = x;
        return 0.5 * x.squaredNorm();
      },
      [](const Vector& x) { return x[0] < 0.5; });
  HmcState state;
  std::vector<double> values;
  for (const Vector& x : Sample(f, Plain(1), Vector::Constant(1, -1), 20000, {}, 0, &state)) {
    ASSERT_LT(x[0], 0.5);
    values.push_back(x[0]);
  }
  const double density = std::exp(-0.125) / std::sqrt(2 * std::numbers::pi);
  ExpectEstimate(values, -density / NormalCdf(0.5), 0.05);
}

TEST(HmcTest, AStartThatCantBeEvaluatedIsRefused) {
  FunctionObjective f(
      1, [](const Vector&, Vector*) { return 0.0; }, [](const Vector& x) { return x[0] < 0.5; });
  HmcState state;
  EXPECT_FALSE(StartHmc(f, Plain(1), Vector::Constant(1, 1), &state));
}

TEST(HmcTest, ATransitionThatIsRefusedEverywhereKeepsTheState) {
  bool open = true;
  FunctionObjective f(
      1,
      [](const Vector& x, Vector* gradient) {
        if (gradient != nullptr) *gradient = x;
        return 0.5 * x.squaredNorm();
      },
      [&](const Vector&) { return open; });
  HmcState state;
  ASSERT_TRUE(StartHmc(f, Plain(1), Vector::Constant(1, 0.3), &state));
  open = false;
  const double step = state.log_step;
  const int evaluations = StepHmc(f, Plain(1), {}, 1, 0, &state);
  EXPECT_EQ(evaluations, 1);  // the trajectory ends where it is refused
  EXPECT_EQ(state.q[0], 0.3);
  EXPECT_EQ(state.iteration, 1);
  EXPECT_LT(state.log_step, step);
}

TEST(HmcTest, StartGivesValueAndGradientInTheCoordinatesOfTheChain) {
  FunctionObjective f = Gaussian(kMean, kCovariance);
  const HmcSpace space{.origin = Vector{{3, 0, -1}}, .basis = Matrix{{1, 0.5, 0}, {-0.5, 1, 0.3}, {0, 0, 0.6}}};
  const Vector q{{0.1, -0.2, 0.3}};
  HmcState state;
  ASSERT_TRUE(StartHmc(f, space, q, &state));
  double value;
  Vector gradient;
  ASSERT_TRUE(f.Evaluate(space.origin + space.basis * q, &value, &gradient));
  EXPECT_DOUBLE_EQ(state.value, value);
  EXPECT_TRUE(Near(state.gradient, space.basis.transpose() * gradient, 1e-14));
}

TEST(HmcTest, ACopyOfTheStateContinuesWithTheSameBits) {
  FunctionObjective f = Gaussian(kMean, kCovariance);
  HmcState state;
  Sample(f, Plain(3), Vector::Zero(3), 10, {.warmup = 5}, 2, &state);
  HmcState copy = state;
  for (int i = 0; i < 20; ++i) {
    StepHmc(f, Plain(3), {.warmup = 20}, 1, 2, &state);
    StepHmc(f, Plain(3), {.warmup = 20}, 1, 2, &copy);
    EXPECT_EQ(state.q, copy.q);
    EXPECT_EQ(state.value, copy.value);
    EXPECT_EQ(state.log_step, copy.log_step);
  }
}

TEST(HmcTest, ChainsAndSeedsMoveDifferently) {
  FunctionObjective f = Gaussian(kMean, kCovariance);
  const auto after_one = [&](uint64_t seed, uint32_t chain) {
    HmcState state;
    EXPECT_TRUE(StartHmc(f, Plain(3), kMean, &state));
    StepHmc(f, Plain(3), {}, seed, chain, &state);
    return state.q;
  };
  EXPECT_EQ(after_one(1, 0), after_one(1, 0));
  EXPECT_NE(after_one(1, 0), after_one(1, 1));
  EXPECT_NE(after_one(1, 0), after_one(2, 0));
}

TEST(HmcTest, WarmUpAdaptsTheStepToTheTargetAcceptanceAndThenKeepsIt) {
  for (const double scale : {0.05, 1.0}) {  // narrower than the first step expects, and about right
    FunctionObjective f = Gaussian(Vector::Zero(10), scale * scale * Matrix::Identity(10, 10));
    HmcState state;
    const HmcOptions options{.warmup = 300};
    ASSERT_TRUE(StartHmc(f, Plain(10), Vector::Zero(10), &state));
    for (int i = 0; i < options.warmup; ++i) StepHmc(f, Plain(10), options, 1, 0, &state);
    const double step = state.log_step;
    const int kept = 500;
    for (int i = 0; i < kept; ++i) StepHmc(f, Plain(10), options, 1, 0, &state);
    EXPECT_EQ(state.log_step, step);
    EXPECT_NEAR(state.acceptance_sum / kept, options.target_acceptance, 0.1) << scale;
  }
}

// Leapfrog steps are symmetric, so their error in the energy is of second order in the step.
TEST(HmcTest, SmallStepsConserveTheEnergy) {
  FunctionObjective f = Gaussian(kMean, kCovariance);
  HmcState state;
  ASSERT_TRUE(StartHmc(f, Plain(3), Vector::Zero(3), &state));
  state.log_step = std::log(1e-3);
  const int transitions = 200;
  for (int i = 0; i < transitions; ++i) StepHmc(f, Plain(3), {.warmup = 0}, 1, 0, &state);
  EXPECT_GT(state.acceptance_sum / transitions, 1 - 2e-5);
}

// The last iterate is noisy; the average of dual averaging does not depend on the last few transitions.
TEST(HmcTest, ShortWarmUpsEndNearTheTargetAcceptance) {
  double sum = 0;
  constexpr int kChains = 20, kKept = 100;
  for (uint32_t chain = 0; chain < kChains; ++chain) {
    FunctionObjective f = Gaussian(Vector::Zero(10), 0.04 * Matrix::Identity(10, 10));
    HmcState state;
    const HmcOptions options{.warmup = 40};
    ASSERT_TRUE(StartHmc(f, Plain(10), Vector::Zero(10), &state));
    for (int i = 0; i < options.warmup + kKept; ++i) StepHmc(f, Plain(10), options, 1, chain, &state);
    EXPECT_EQ(state.log_step, state.mean_log_step);
    EXPECT_GT(state.acceptance_sum / kKept, 0.4);
    sum += state.acceptance_sum / kKept;
  }
  EXPECT_GT(sum / kChains, 0.7);  // the average of the iterates leans to smaller steps
  EXPECT_LT(sum / kChains, 0.95);
}

TEST(HmcTest, LongStepsNeedFewerLeapfrogs) {
  FunctionObjective f = Gaussian(Vector::Zero(3), Matrix::Identity(3, 3));
  HmcState state;
  ASSERT_TRUE(StartHmc(f, Plain(3), Vector::Zero(3), &state));
  state.log_step = 0;
  EXPECT_EQ(StepHmc(f, Plain(3), {.warmup = 0, .leapfrogs = 8, .length = 3}, 1, 0, &state), 3);
}

TEST(HmcTest, ATransitionCostsOneEvaluationPerLeapfrog) {
  FunctionObjective f = Gaussian(kMean, kCovariance);
  HmcState state;
  ASSERT_TRUE(StartHmc(f, Plain(3), kMean, &state));
  const int before = f.evaluations();
  EXPECT_EQ(StepHmc(f, Plain(3), {.leapfrogs = 5}, 1, 0, &state), 5);
  EXPECT_EQ(f.evaluations() - before, 5);
}

}  // namespace
}  // namespace fidelio
