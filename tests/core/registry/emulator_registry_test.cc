#include "core/registry/emulator_registry.h"

#include <string>
#include <tuple>

#include "core/base/bytes.h"
#include "core/emulator/output_transform.h"
#include "core/emulator/transformed_emulator.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

TEST(EmulatorRegistryTest, EveryMethodIsThereAndAgreesWithTheOthers) {
  EXPECT_TRUE(CheckEmulatorMethods().ok()) << CheckEmulatorMethods();
  EXPECT_EQ(std::string(EmulatorMethods().front().name), "mf_dgp");
  for (const char* name :
       {"mf_dgp_variational", "mf_dgp_svi", "mf_dgp_neighbours", "ar1", "ar1_recursive", "nargp", "deep_mf"}) {
    EXPECT_TRUE(FindEmulatorMethod(name).ok()) << FindEmulatorMethod(name).status();
  }
}

TEST(EmulatorRegistryTest, EveryOptionHasARangeThatIsPassedOn) {
  for (const EmulatorMethod& method : EmulatorMethods()) {
    for (const MethodOption& option : method.options) {
      EXPECT_LT(option.least, option.most) << option.name;
      if (option.set == nullptr) continue;
      FitOptions least, most;
      option.set(option.least, least);
      option.set(option.most, most);
      EXPECT_TRUE(Validate(least).ok() && Validate(most).ok()) << option.name;
      const auto values = [](const FitOptions& o) { return std::tuple(o.inducing_points, o.batch_size, o.steps); };
      EXPECT_NE(values(least), values(most)) << option.name;
    }
  }
}

TEST(EmulatorRegistryTest, BytesOfAMethodThatThereIsNotAreWholeOrDamaged) {
  std::string bytes = ByteWriter().Seal(/*kind=*/4711, /*version=*/3);
  EXPECT_TRUE(IsError(LoadEmulator(bytes).status(), absl::StatusCode::kInvalidArgument,
                      {"checkpoint is of kind 4711, which no method of this program has"}));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_TRUE(IsError(LoadEmulator(bytes).status(), absl::StatusCode::kDataLoss, {"checksum"}));
}

TEST(EmulatorRegistryTest, AnUnknownMethodIsToldThoseThatThereAre) {
  EXPECT_TRUE(IsError(FindEmulatorMethod("magic").status(), absl::StatusCode::kNotFound,
                      {"method \"magic\", want one of mf_dgp"}));
}

// Measured with 2 iterations of fits: the peak of resident memory is 75 to 98 % of these estimates.
TEST(EmulatorRegistryTest, MemoryOfSparseFitsGrowsWithTheSquareOfInducingPoints) {
  for (const char* name : {"mf_dgp_variational", "mf_dgp_svi"}) {
    const EmulatorMethod& method = **FindEmulatorMethod(name);
    const auto bytes = [&](int inducing, int batch) {
      return method.fit_bytes({8000}, 2, {.inducing_points = inducing, .batch_size = batch});
    };
    // The second difference of c·M² + b·M + a is 2·c·step².
    const double squares = (bytes(3000, 10) - 2 * bytes(2000, 10) + bytes(1000, 10)) / (2 * 1000.0 * 1000.0);
    EXPECT_GE(squares, 8 * 16) << name;
    EXPECT_LE(squares, 8 * 40) << name;
    EXPECT_EQ(bytes(8000, 10), bytes(9000, 10)) << name << ": no more inducing points than observations";
  }
  const EmulatorMethod& svi = **FindEmulatorMethod("mf_dgp_svi");
  EXPECT_GT(svi.fit_bytes({8000}, 2, {.batch_size = 8000}), svi.fit_bytes({8000}, 2, {.batch_size = 100}));
}

class EveryMethodTest : public ::testing::TestWithParam<EmulatorMethod> {
 protected:
  std::unique_ptr<MixtureEmulator> Fit(const Dataset& data) {
    auto fit = GetParam().create(data, {.seed = 3, .max_iterations = 40});
    EXPECT_TRUE(fit.ok()) << fit.status();
    auto model = (*fit)->Run(nullptr);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
};

TEST_P(EveryMethodTest, LoadsWhatItSaved) {
  const Dataset data = SmallData({9, 5}, 1);
  const Matrix x = SmallQueries(7, 1);
  const auto model = Fit(data);
  EXPECT_EQ(model->checkpoint_kind(), GetParam().checkpoint_kind);
  EXPECT_GT(model->MemoryBytes(), 14 * 8);
  EXPECT_EQ(model->data().levels[1].y, data.levels[1].y);
  const auto loaded = LoadEmulator(model->Save());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->Predict(x, {})->mean, model->Predict(x, {})->mean);
  EXPECT_EQ((*loaded)->Predict(x, {})->variance, model->Predict(x, {})->variance);
}

TEST_P(EveryMethodTest, LoadsWhatItSavedWithinAnOutputTransform) {
  Dataset data = SmallData({9, 5}, 1);
  for (LevelData& level : data.levels) level.y = level.y.array().exp();
  auto transformed = TransformOutputs(data, {.kind = OutputTransform::Kind::kLog});
  ASSERT_TRUE(transformed.ok()) << transformed.status();
  const TransformedEmulator model(transformed->transform, Fit(transformed->data));
  const auto loaded = LoadEmulator(model.Save());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Matrix x = SmallQueries(7, 1);
  EXPECT_EQ((*loaded)->Predict(x, {})->mean, model.Predict(x, {})->mean);
  EXPECT_EQ(FittedModel(**loaded).checkpoint_kind(), GetParam().checkpoint_kind);
}

TEST_P(EveryMethodTest, ContinuesAFitThatWasSaved) {
  const Dataset data = SmallData({9, 5}, 1);
  auto fit = GetParam().create(data, {.seed = 3, .max_iterations = 40});
  ASSERT_TRUE(fit.ok()) << fit.status();
  auto resumed = GetParam().resume((*fit)->SaveState(), data, 1);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  const auto model = (*resumed)->Run(nullptr);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE((*model)->Predict(SmallQueries(7, 1), {})->mean.allFinite());
  EXPECT_FALSE(GetParam().resume("no state", data, 1).ok());
}

INSTANTIATE_TEST_SUITE_P(All, EveryMethodTest, ::testing::ValuesIn(EmulatorMethods().begin(), EmulatorMethods().end()),
                         [](const auto& method) { return std::string(method.param.name); });

}  // namespace
}  // namespace fidelio
