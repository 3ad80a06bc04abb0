#include "core/neighbour/neighbour_dgp_fit.h"

#include <cmath>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/core/neighbour/stack_cases.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

// Says no at a fraction of the work, and keeps the state saved there.
class StopAt : public FitObserver {
 public:
  StopAt(const EmulatorFit* fit, double fraction) : fit_(fit), fraction_(fraction) {}
  bool OnProgress(const FitProgress& progress) override {
    EXPECT_GE(progress.fraction, last_.fraction);
    EXPECT_GT(progress.iteration, last_.iteration);
    EXPECT_LE(progress.fraction, 1);
    last_ = progress;
    if (progress.fraction < fraction_) return true;
    saved_ = fit_->SaveState();
    return false;
  }
  const std::string& saved() const { return saved_; }

 private:
  const EmulatorFit* fit_;
  const double fraction_;
  FitProgress last_;
  std::string saved_;
};

FitOptions Options(int threads) { return {.kernel = KernelFamily::kMatern32, .seed = 5, .threads = threads}; }

Vector Means(const Emulator& model) { return model.Predict(SmallQueries(10, model.input_dimension()), {})->mean; }

std::unique_ptr<MixtureEmulator> FitToTheEnd(const Dataset& data, const FitOptions& options) {
  auto fit = NeighbourDgpFit::Create(data, options);
  EXPECT_TRUE(fit.ok()) << fit.status();
  auto model = (*fit)->Run(nullptr);
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

struct Interruption {
  int low, high;
  double fraction;
};

class InterruptedNeighbourFitTest : public ::testing::TestWithParam<Interruption> {};

TEST_P(InterruptedNeighbourFitTest, ContinuesToTheSameModelOnOtherThreads) {
  const Dataset data = StackData({GetParam().low, GetParam().high}, 2);
  const auto whole = FitToTheEnd(data, Options(1));
  auto fit = NeighbourDgpFit::Create(data, Options(2));
  ASSERT_TRUE(fit.ok());
  StopAt stop(fit->get(), GetParam().fraction);
  EXPECT_EQ((*fit)->Run(&stop).status().code(), absl::StatusCode::kCancelled);
  EXPECT_LT(stop.saved().size(), 40 * 1024) << "observations need not be saved with a fit";
  const auto resumed = NeighbourDgpFit::Resume(stop.saved(), data, 1);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  const auto model = (*resumed)->Run(nullptr);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(Means(**model), Means(*whole));
}

// In the stack, in the search for modes and in sampling of a small upper level; in the sketch and after it of a larger one.
INSTANTIATE_TEST_SUITE_P(Phases, InterruptedNeighbourFitTest,
                         ::testing::Values(Interruption{300, 12, 0.0}, Interruption{300, 12, 0.5},
                                           Interruption{300, 12, 0.9}, Interruption{300, 310, 0.45},
                                           Interruption{300, 310, 0.61}));

TEST(NeighbourDgpFitTest, AFitIsNotResumedWithOtherData) {
  const auto fit = NeighbourDgpFit::Create(StackData({50, 8}, 1), Options(1));
  ASSERT_TRUE(fit.ok());
  EXPECT_TRUE(IsError(NeighbourDgpFit::Resume((*fit)->SaveState(), StackData({51, 8}, 1), 1).status(),
                      absl::StatusCode::kInvalidArgument, {"data"}));
  EXPECT_FALSE(NeighbourDgpFit::Resume("no state", StackData({50, 8}, 1), 1).ok());
}

TEST(NeighbourDgpFitTest, AWarmStartFindsTheSameModelSooner) {
  const Dataset data = StackData({400, 12}, 2);
  const auto cold = FitToTheEnd(data, Options(2));
  FitOptions options = Options(2);
  options.warm_start = cold.get();
  const auto warm = FitToTheEnd(data, options);
  EXPECT_LT(warm->report().evaluations, cold->report().evaluations);
  EXPECT_LT((Means(*warm) - Means(*cold)).cwiseAbs().maxCoeff(), 0.1);
}

TEST(NeighbourDgpFitTest, AnotherModelsWarmStartIsRefused) {
  const auto other = FitToTheEnd(StackData({50, 8}, 1), Options(1));
  FitOptions options = Options(1);
  options.warm_start = other.get();
  EXPECT_TRUE(IsError(NeighbourDgpFit::Create(StackData({50, 8}, 2), options).status(),
                      absl::StatusCode::kInvalidArgument, {"warm_start", "dimension 2"}));
}

TEST(NeighbourDgpFitTest, ABudgetOfIterationsIsKept) {
  FitOptions options = Options(1);
  options.max_iterations = 3;
  const auto model = FitToTheEnd(StackData({300, 12}, 2), options);
  EXPECT_LE(model->report().evaluations, 3 + 2 * 4);  // every start of the two upper structures gets one
  EXPECT_TRUE(Means(*model).allFinite());
}

TEST(NeighbourDgpFitTest, FamiliesCompeteUnlessOneIsAskedFor) {
  FitOptions options = Options(2);
  options.kernel = std::nullopt;
  options.max_iterations = 150;
  const auto model = FitToTheEnd(StackData({500}, 1), options);
  EXPECT_GT(model->report().evaluations, 30);
  EXPECT_TRUE(Means(*model).allFinite());
}

// 310 observations above the stack: a mode per family, averaged by what they say about observations left out.
TEST(NeighbourDgpFitTest, ModesOfSeveralFamiliesAreAveraged) {
  Dataset data = StackData({300, 310}, 1);
  // A kink for the rough families, a smooth half for the others.
  LevelData& top = data.levels[1];
  for (Eigen::Index i = 0; i < top.y.size(); ++i) top.y[i] += 2 * std::abs(top.x(i, 0) - 0.7);
  FitOptions options = Options(2);
  options.kernel = std::nullopt;
  options.max_iterations = 600;
  const auto model = FitToTheEnd(data, options);
  const Matrix x = SmallQueries(10, 1);
  const auto mixture = model->PredictMixture(x, {});
  ASSERT_TRUE(mixture.ok());
  EXPECT_NEAR(mixture->weight.sum(), 1, 1e-12);
  EXPECT_GE(mixture->weight.minCoeff(), 0.05);
  EXPECT_LE(mixture->weight.size(), 3);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    EXPECT_NEAR(model->Predict(x, {})->mean[i], SmallFunction(x.row(i), 1) + 2 * std::abs(x(i, 0) - 0.7), 0.1);
  }
  const auto loaded = LoadNeighbourDgp(model->Save());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(Means(**loaded), Means(*model));
}

TEST(NeighbourDgpFitTest, MemoryGrowsLinearlyInLargeLevels) {
  const double small = NeighbourDgpFit::MemoryBytes({100000, 1000}, 2, 2);
  const double large = NeighbourDgpFit::MemoryBytes({800000, 1000}, 2, 2);
  EXPECT_LT(large, 8 * small);
  EXPECT_LT(large, 1.2 * 1024 * 1024 * 1024);
}

}  // namespace
}  // namespace fidelio
