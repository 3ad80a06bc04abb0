// The shell of every fitted model, around a posterior whose Gaussians are known.
#include "core/emulator/fitted_emulator.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/emulator/leave_one_out_weights.h"
#include "core/emulator/query_check.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

using Eigen::Index;

// Gaussian s at x: N(s + slope_s·x, variance_s), with learned noise noise_s, whatever the level; all inputs independent.
class TwoGaussians final : public Posterior {
 public:
  Vector weight{{0.25, 0.75}}, slope{{1, -2}}, variance{{0.5, 2}}, noise{{0.1, 0.3}};

  Vector Weights(int) const override { return weight; }
  Vector Noise(int) const override { return noise; }
  Gaussians At(const Matrix& x) const {
    Gaussians at{.mean = slope * x.col(0).transpose(), .variance = variance.replicate(1, x.rows())};
    at.mean.row(1).array() += 1;
    return at;
  }
  std::unique_ptr<Block> At(Matrix x, int) const override {
    class Rows : public Block {
     public:
      Rows(const TwoGaussians& of, Matrix x) : of_(of), x_(std::move(x)) {}
      Gaussians Predict() override { return of_.At(x_); }
      Matrix Gradient(const Matrix& mean_bar, const Matrix&) override { return mean_bar.transpose() * of_.slope; }

     private:
      const TwoGaussians& of_;
      const Matrix x_;
    };
    return std::make_unique<Rows>(*this, std::move(x));
  }
  Vector MeanAt(const Matrix& x) const { return At(x).mean.transpose() * weight; }
  Vector VarianceAt(const Matrix& x) const {
    const Matrix deviations = At(x).mean.rowwise() - MeanAt(x).transpose();
    return (At(x).variance + deviations.cwiseAbs2()).transpose() * weight;
  }
  absl::StatusOr<JointGaussian> Joint(const Matrix& x, const std::vector<int>&, const JointOptions&) const override {
    return JointGaussian{.mean = MeanAt(x), .covariance = VarianceAt(x).asDiagonal()};
  }
  // Every sample is the mean of the first Gaussian plus its noise variance.
  absl::StatusOr<Matrix> Sample(const Matrix& x, int, const SampleRequest& request) const override {
    const double more = request.noise.size() > 0 ? request.noise[0] : 0;
    return Matrix((At(x).mean.row(0).array() + more).replicate(request.count, 1));
  }
  std::unique_ptr<const Functions> Draw(const PathOptions& options) const override {
    class Lines : public Functions {
     public:
      Lines(const TwoGaussians& of, int count) : of_(of), count_(count) {}
      Matrix Evaluate(const Matrix& x, Vector* mean) const override {
        if (mean != nullptr) *mean = of_.MeanAt(x);
        return of_.At(x).mean.row(0).transpose().replicate(1, count_);
      }

     private:
      const TwoGaussians& of_;
      const int count_;
    };
    return std::make_unique<Lines>(*this, options.count);
  }
  absl::StatusOr<LeftOut> LeaveOneOut(const FittedState& state, int level, int) const override {
    const Gaussians at = At(state.scaling.ScaleInputs(state.data.levels[level].x));
    return LeftOut{.mean = at.mean, .variance = at.variance};
  }
  absl::StatusOr<std::unique_ptr<const Posterior>> Condition(const FittedState&, const Dataset&, int) const override {
    return std::make_unique<const TwoGaussians>(*this);
  }
  std::string Save(const FittedState&) const override { return "saved"; }
  uint32_t checkpoint_kind() const override { return 7; }
  void Describe(FitReport& report) const override { report.draws = 2; }
  int64_t MemoryBytes(const Dataset&) const override { return 11; }
};

constexpr double kMean = 5, kSd = 3, kWidth = 10, kGiven = 0.8;

// Two levels of inputs from 0 to 10; noise of the highest is given.
FittedState State(double inflation = 1) {
  FittedState state;
  for (int t = 0; t < 2; ++t) {
    state.data.levels.push_back({.x = Matrix{{1}, {2}, {8}}, .y = Vector{{4, 9, 6}}, .noise_variance = {}});
  }
  state.data.levels[1].noise_variance = Vector::Constant(3, kGiven);
  state.scaling = {
      .input_low = Vector::Zero(1), .input_width = Vector::Constant(1, kWidth), .output_mean = kMean, .output_sd = kSd};
  state.inflation.factor = inflation;
  return state;
}

FittedEmulator Fitted(double inflation = 1) {
  return FittedEmulator(State(inflation), std::make_unique<TwoGaussians>());
}

const Matrix kX{{0}, {2.5}, {10}};

TEST(FittedEmulatorTest, PredictsInTheUsersUnits) {
  const TwoGaussians known;
  const FittedEmulator model = Fitted();
  const Prediction p = *model.Predict(kX, {.level = 0, .input_gradient = true});
  EXPECT_TRUE(Near(p.mean, (known.MeanAt(kX / kWidth).array() * kSd + kMean).matrix(), 1e-12));
  EXPECT_TRUE(Near(p.variance, kSd * kSd * known.VarianceAt(kX / kWidth), 1e-12));
  EXPECT_TRUE(Near(p.input_gradient, Matrix::Constant(3, 1, known.weight.dot(known.slope) * kSd / kWidth), 1e-12));
  EXPECT_EQ(model.report().draws, 2);
  EXPECT_EQ(model.Save(), "saved");
}

TEST(FittedEmulatorTest, NoiseIsThatOfEachGaussianAndTheGivenOne) {
  const TwoGaussians known;
  const FittedEmulator model = Fitted();
  for (int level = 0; level < 2; ++level) {
    const Mixture f = *model.PredictMixture(kX, {.level = level});
    const Mixture y = *model.PredictMixture(kX, {.level = level, .include_noise = true});
    const Vector noise = kSd * kSd * known.noise.array() + (level == 1 ? kGiven : 0);
    EXPECT_TRUE(Near(y.variance - f.variance, noise.replicate(1, 3), 1e-12));
    const auto joint = model.JointMoments(kX, {.level = level}),
               noisy = model.JointMoments(kX, {.level = level, .include_noise = true});
    EXPECT_TRUE(
        Near((noisy->covariance - joint->covariance).diagonal(), Vector::Constant(3, known.weight.dot(noise)), 1e-12));
  }
}

TEST(FittedEmulatorTest, InflationWidensTheHighestLevelButNotGivenNoise) {
  const FittedEmulator plain = Fitted(), wide = Fitted(4);
  for (int level = 0; level < 2; ++level) {
    const double factor = level == 1 ? 4 : 1, given = level == 1 ? kGiven : 0;
    for (const bool noise : {false, true}) {
      const PredictOptions options{.level = level, .include_noise = noise, .input_gradient = true};
      const Prediction p = *plain.Predict(kX, options), q = *wide.Predict(kX, options);
      const double kept = noise ? given : 0;
      EXPECT_TRUE(Near(q.mean, p.mean, 1e-12));
      EXPECT_TRUE(Near((q.variance.array() - kept).matrix(), factor * (p.variance.array() - kept).matrix(), 1e-12));
      EXPECT_TRUE(Near(q.input_gradient, p.input_gradient, 1e-12));
      EXPECT_TRUE(Near(wide.JointMoments(kX, options)->covariance.diagonal(), q.variance, 1e-12));
      EXPECT_TRUE(
          Near(wide.JointColumnsAt(kX, {level, level, level}, {2}, options)->row(2), q.variance.tail(1), 1e-12));
    }
    const Matrix samples = *plain.SamplePaths(kX, {.level = level, .count = 2});
    const Eigen::RowVectorXd mean = plain.Predict(kX, {.level = level})->mean.transpose();
    const Matrix widened = ((samples.rowwise() - mean) * std::sqrt(factor)).rowwise() + mean;
    EXPECT_TRUE(Near(*wide.SamplePaths(kX, {.level = level, .count = 2}), widened, 1e-12));
    EXPECT_TRUE(Near(*(*wide.DrawPaths({.level = level, .count = 2}))->Evaluate(kX), widened, 1e-12));
  }
}

TEST(FittedEmulatorTest, LeaveOneOutWeighsGaussiansWithoutTheObservation) {
  const TwoGaussians known;
  const FittedState state = State();
  const ObservedMixtures left_out = (*Fitted().LeaveOneOutMixtures())[0];
  const Posterior::Gaussians at = known.At(state.data.levels[0].x / kWidth);
  for (Index i = 0; i < 3; ++i) {
    const double y = (state.data.levels[0].y[i] - kMean) / kSd;
    EXPECT_TRUE(
        Near(left_out.weight.col(i), WeightsWithout(y, known.weight, at.mean.col(i), at.variance.col(i)), 1e-12));
    EXPECT_NEAR(left_out.mean(1, i), at.mean(1, i) * kSd + kMean, 1e-12);
    EXPECT_NEAR(left_out.variance(0, i), 0.5 * kSd * kSd, 1e-12);
  }
}

TEST(FittedEmulatorTest, CreateInflatesByWhatLeaveOneOutShows) {
  const auto model = FittedEmulator::Create(State(), std::make_unique<TwoGaussians>(), 1);
  ASSERT_TRUE(model.ok()) << model.status();
  const LeaveOneOut top = (*(*model)->LeaveOneOutPredictions())[1];
  EXPECT_EQ(top.inflation, InflationOf(top).factor);
}

TEST(FittedEmulatorTest, ConditioningKeepsUnitsAndWhatNoiseIs) {
  const FittedEmulator model = Fitted();
  Dataset more = model.data();
  more.levels[0].x.conservativeResize(4, 1);
  more.levels[0].y.conservativeResize(4);
  more.levels[0].x(3, 0) = 30;
  more.levels[0].y[3] = 50;
  const auto conditioned = model.Condition(more, 1);
  ASSERT_TRUE(conditioned.ok()) << conditioned.status();
  EXPECT_EQ((*conditioned)->Predict(kX, {.level = 0})->mean, model.Predict(kX, {.level = 0})->mean);
  more.levels[0].noise_variance = Vector::Ones(4);
  EXPECT_TRUE(IsError(model.Condition(more, 1).status(), absl::StatusCode::kFailedPrecondition,
                      {"level 0", "learned", "given", "fit again"}));
  more.levels.pop_back();
  EXPECT_TRUE(IsError(model.Condition(more, 1).status(), absl::StatusCode::kInvalidArgument, {"1 levels", "2 levels"}));
}

}  // namespace
}  // namespace fidelio
