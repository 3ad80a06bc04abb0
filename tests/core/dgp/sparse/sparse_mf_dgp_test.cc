// Fits of sparse variational MF-DGPs and what is special about their models; what all emulators promise is tested with them all.
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "core/base/random.h"
#include "core/dgp/sparse/sparse_mf_dgp_posterior.h"
#include "core/dgp/sparse/svi_fit.h"
#include "core/dgp/sparse/svi_training.h"
#include "core/dgp/sparse/variational_fit.h"
#include "gtest/gtest.h"
#include "tests/support/near.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

std::unique_ptr<MixtureEmulator> RunOrDie(EmulatorFit& fit, FitObserver* observer = nullptr) {
  auto model = fit.Run(observer);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

std::unique_ptr<MixtureEmulator> Variational(const Dataset& data, const FitOptions& options = {}) {
  auto fit = VariationalFit::Create(data, options);
  EXPECT_TRUE(fit.ok()) << fit.status();
  return RunOrDie(**fit);
}

std::unique_ptr<MixtureEmulator> Svi(const Dataset& data, FitOptions options = {}) {
  if (options.steps == 0) options.steps = 300;
  auto fit = SviFit::Create(data, options);
  EXPECT_TRUE(fit.ok()) << fit.status();
  return RunOrDie(**fit);
}

double RelativeError(const Emulator& model, int level) {
  const Matrix x = SmallQueries(50, model.input_dimension());
  Vector y(50);
  for (int i = 0; i < 50; ++i) y[i] = SmallFunction(x.row(i), level);
  const auto p = model.Predict(x, {.level = level});
  EXPECT_TRUE(p.ok()) << p.status();
  return (p->mean - y).norm() / (y.array() - y.mean()).matrix().norm();
}

TEST(VariationalFitTest, LearnsEveryLevel) {
  const auto model = Variational(SmallData({25, 12, 6}, 2));
  for (int level = 0; level < 3; ++level) EXPECT_LT(RelativeError(*model, level), 0.05) << "level " << level;
  EXPECT_GT(model->report().evaluations, 10);
  EXPECT_EQ(model->checkpoint_kind(), kVariationalMfDgpKind);
}

TEST(VariationalFitTest, OneLevelIsAGp) { EXPECT_LT(RelativeError(*Variational(SmallData({15}, 1)), 0), 0.02); }

// Four periods: a search that begins with the prior's lengthscales takes them for noise.
TEST(VariationalFitTest, WavesAreNotNoise) {
  const auto wave = [](double x) { return std::sin(8 * std::numbers::pi * x); };
  Dataset data;
  data.levels.resize(2);
  for (int level = 0; level < 2; ++level) {
    LevelData& at = data.levels[level];
    at.x = Vector::LinSpaced(level == 0 ? 40 : 12, 0, 1);
    at.y = at.x.col(0).unaryExpr(wave);
    if (level == 1) at.y = (at.x.col(0).array() - std::numbers::sqrt2) * at.y.array().square();
  }
  const Vector x = Vector::LinSpaced(101, 0, 1), y = x.unaryExpr(wave);
  for (const size_t levels : {2, 1}) {
    data.levels.resize(levels);
    const auto p = Variational(data)->Predict(x, {.level = 0});
    ASSERT_TRUE(p.ok()) << p.status();
    EXPECT_LT((p->mean - y).norm(), 0.1 * y.norm()) << levels << " levels";
  }
}

TEST(VariationalFitTest, DoesNotDependOnThreads) {
  const Dataset data = SmallData({30, 8}, 2);
  const Matrix x = SmallQueries(10, 2);
  const auto one = Variational(data, {.threads = 1}), two = Variational(data, {.threads = 2});
  EXPECT_EQ(one->Predict(x, {})->mean, two->Predict(x, {})->mean);
  EXPECT_EQ(one->Predict(x, {})->variance, two->Predict(x, {})->variance);
}

TEST(VariationalFitTest, FewerInducingPointsAreStillAModel) {
  const auto model = Variational(SmallData({40, 10}, 1), {.inducing_points = 8});
  EXPECT_LT(RelativeError(*model, 1), 0.1);
}

TEST(VariationalFitTest, AWarmStartNeedsNoMoreEvaluationsPerStart) {
  const Dataset data = SmallData({15, 6}, 1);
  const auto model = Variational(data);
  const auto again = Variational(data, {.warm_start = model.get()});
  EXPECT_GE(again->report().log_posterior, model->report().log_posterior - 0.1);
}

TEST(SviFitTest, LearnsTheHighestLevel) {
  const auto model = Svi(SmallData({25, 10}, 1), {.steps = kPublishedSteps});
  EXPECT_LT(RelativeError(*model, 1), 0.1);
  EXPECT_LT(RelativeError(*model, 0), 0.1);
  EXPECT_EQ(model->checkpoint_kind(), kSviMfDgpKind);
}

TEST(SviFitTest, DependsOnTheSeedAlone) {
  const Dataset data = SmallData({30, 8}, 2);
  const Matrix x = SmallQueries(10, 2);
  const FitOptions options{.seed = 4, .threads = 1, .batch_size = 10, .steps = 200};
  FitOptions two = options, other = options;
  two.threads = 2;
  other.seed = 5;
  const Vector mean = Svi(data, options)->Predict(x, {})->mean;
  EXPECT_EQ(mean, Svi(data, two)->Predict(x, {})->mean);
  EXPECT_NE(mean, Svi(data, other)->Predict(x, {})->mean);
}

// Cancels after so many calls.
class CancelAfter : public FitObserver {
 public:
  explicit CancelAfter(int calls) : calls_(calls) {}
  bool OnProgress(const FitProgress& progress) override {
    EXPECT_GE(progress.fraction, 0);
    EXPECT_LE(progress.fraction, 1);
    return --calls_ > 0;
  }

 private:
  int calls_;
};

template <typename Fit>
void ExpectResumesToTheSameBits(const FitOptions& options) {
  const Dataset data = SmallData({14, 6}, 1);
  const Matrix x = SmallQueries(10, 1);
  const Vector expected = RunOrDie(**Fit::Create(data, options))->Predict(x, {})->mean;
  std::string state = (*Fit::Create(data, options))->SaveState();
  for (const int calls : {40, 150, 90}) {
    auto fit = Fit::Resume(state, data, 1);
    ASSERT_TRUE(fit.ok()) << fit.status();
    CancelAfter observer(calls);
    EXPECT_EQ((*fit)->Run(&observer).status().code(), absl::StatusCode::kCancelled);
    state = (*fit)->SaveState();
  }
  auto last = Fit::Resume(state, data, 2);
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(RunOrDie(**last)->Predict(x, {})->mean, expected);

  EXPECT_TRUE(IsError(Fit::Resume(state, SmallData({14, 7}, 1), 1).status(), absl::StatusCode::kDataLoss,
                      {"other observations"}));
}

TEST(VariationalFitTest, ResumesToTheSameBits) { ExpectResumesToTheSameBits<VariationalFit>({.seed = 2}); }
TEST(SviFitTest, ResumesToTheSameBits) { ExpectResumesToTheSameBits<SviFit>({.seed = 2, .steps = 400}); }

TEST(SviFitTest, ABudgetOfIterationsHasAllPhases) {
  auto fit = SviFit::Create(SmallData({10, 5}, 1), {.max_iterations = 70});
  ASSERT_TRUE(fit.ok()) << fit.status();
  struct Phases : FitObserver {
    std::string last;
    bool OnProgress(const FitProgress& progress) override {
      last = progress.phase;
      return true;
    }
  } phases;
  EXPECT_EQ(RunOrDie(**fit, &phases)->report().evaluations, 70);
  EXPECT_EQ(phases.last, "free");
}

TEST(SparseMfDgpTest, LeavingOutOneObservationOfAGpIsExact) {
  // With one level and all inputs inducing: giving the observation back by Bayes' rule leads to the posterior of all.
  Dataset data = SmallData({12}, 1);
  data.levels[0].y += 0.1 * Random(3, 0).NormalVector(12);
  const auto model = Variational(data);
  const LeaveOneOut left_out = (*model->LeaveOneOutPredictions())[0];
  const Eigen::Index last = 11;
  const auto seen = model->Predict(data.levels[0].x.bottomRows(1), {.include_noise = true});
  ASSERT_TRUE(seen.ok());
  // Predictions are inflated, leave-one-out predictions are not.
  const double inflated = model->Predict(data.levels[0].x.bottomRows(1), {})->variance[0];
  const double posterior = inflated / left_out.inflation;
  const double noise = (seen->variance[0] - inflated) / left_out.inflation;
  // 1/posterior = 1/cavity + 1/noise, and the same for the mean.
  const double cavity = left_out.variance[last] - noise;
  EXPECT_NEAR(1 / posterior, 1 / cavity + 1 / noise, 1e-4 / posterior);
  EXPECT_NEAR(seen->mean[0] / posterior, left_out.mean[last] / cavity + data.levels[0].y[last] / noise,
              1e-4 * std::abs(seen->mean[0] / posterior));
}

TEST(SparseMfDgpTest, LeavingOutCopiesOfAGpIsExact) {
  Dataset data = SmallData({12}, 1);
  data.levels[0].y += 0.1 * Random(3, 0).NormalVector(12);
  data.levels[0].x.row(11) = data.levels[0].x.row(10);
  const auto model = Variational(data);
  const LeaveOneOut left_out = (*model->LeaveOneOutPredictions())[0];
  const Matrix x = data.levels[0].x.bottomRows(1);
  const auto seen = model->Predict(x, {.include_noise = true});
  ASSERT_TRUE(seen.ok());
  const double inflated = model->Predict(x, {})->variance[0];
  const double posterior = inflated / left_out.inflation, noise = (seen->variance[0] - inflated) / left_out.inflation;
  const double cavity = left_out.variance[11] - noise;
  // 1/posterior = 1/cavity + 2/noise, and the same for the mean: both copies were taken out.
  EXPECT_NEAR(1 / posterior, 1 / cavity + 2 / noise, 1e-4 / posterior);
  EXPECT_NEAR(seen->mean[0] / posterior, left_out.mean[11] / cavity + data.levels[0].y.tail(2).sum() / noise,
              1e-4 * std::abs(seen->mean[0] / posterior));
  EXPECT_NEAR(left_out.mean[10], left_out.mean[11], 1e-9);
}

TEST(SparseMfDgpTest, ConditionRefusesDataThatDoNotBeginWithWhatIsKnown) {
  const Dataset data = SmallData({12, 5}, 1);
  const auto model = Variational(data);
  Dataset changed = data;
  changed.levels[1].y[2] += 1;
  EXPECT_TRUE(IsError(model->Condition(changed, 1).status(), absl::StatusCode::kFailedPrecondition,
                      {"level 1", "do not begin with the 5", "fit again"}));
}

TEST(SparseMfDgpTest, KnownNoiseIsUsedAsGiven) {
  Dataset data = SmallData({12, 6}, 1);
  data.levels[1].noise_variance = Vector::Constant(6, 0.04);
  for (const auto& model : {Variational(data), Svi(data)}) {
    const Matrix x = SmallQueries(3, 1);
    const Vector f = model->Predict(x, {})->variance, y = model->Predict(x, {.include_noise = true})->variance;
    EXPECT_TRUE(Near(y - f, Vector::Constant(3, 0.04), 1e-9));
  }
}

TEST(SparseMfDgpTest, OptionsAreCheckedByName) {
  const Dataset data = SmallData({5, 3}, 1);
  EXPECT_TRUE(IsError(SviFit::Create(data, {.batch_size = -1}).status(), absl::StatusCode::kInvalidArgument,
                      {"batch_size: -1"}));
  EXPECT_TRUE(IsError(VariationalFit::Create(data, {.inducing_points = -2}).status(),
                      absl::StatusCode::kInvalidArgument, {"inducing_points: -2"}));
}

}  // namespace
}  // namespace fidelio
