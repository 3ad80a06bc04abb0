#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/data/dataset_bytes.h"
#include "core/data/scaling_bytes.h"
#include "core/dgp/moments/mf_dgp.h"
#include "core/dgp/moments/moment_mixture.h"
#include "core/dgp/moments/recipe_bytes.h"
#include "core/emulator/inflation.h"
#include "core/emulator/report_bytes.h"
#include "gtest/gtest.h"
#include "tests/support/small_data.h"
#include "tests/support/status.h"

namespace fidelio {
namespace {

// Checkpoints of two levels with the draws of a test: structure 0 has both levels, structure 1 the highest alone.
class MfDgpBytesTest : public ::testing::Test {
 protected:
  MfDgpBytesTest() : data_(SmallData({14, 9}, 1)) {
    for (const int first_level : {0, 1}) {
      Recipe recipe = DefaultRecipe(KernelFamily::kRbf);
      recipe.first_level = first_level;
      structures_.push_back(
          std::make_shared<const MomentModel>(ScaleData(data_, first_level, ScalingOf(data_, 0)), recipe));
    }
  }

  // At the centres of the priors.
  MomentDraw Draw(int structure, double weight) const {
    return {structure, weight, structures_[structure]->layout.parameters.Centres()};
  }

  // With a log variance of layer 1 that no matrix of finite elements has.
  MomentDraw Hopeless(int structure, double weight, double log_variance) const {
    MomentDraw draw = Draw(structure, weight);
    draw.theta[structures_[structure]->layout.first.amplitude] = log_variance;
    return draw;
  }

  absl::StatusOr<std::unique_ptr<FittedEmulator>> Load(const std::vector<MomentDraw>& draws) const {
    ByteWriter out;
    WriteDataset(data_, out);
    out.U64(structures_.size());
    for (const auto& structure : structures_) {
      WriteRecipe(structure->recipe, out);
      WriteScaling(structure->data.scaling, out);
    }
    WriteInflation({}, out);
    out(draws);
    WriteReport({}, out);
    return LoadMfDgp(out.Seal(kMfDgpKind, kMfDgpVersion));
  }

  Dataset data_;
  std::vector<std::shared_ptr<const MomentModel>> structures_;
};

TEST_F(MfDgpBytesTest, DrawsThatCannotBeFactorisedAreLeftOut) {
  const auto all = Load({Draw(0, 0.5), Draw(1, 0.5)});
  const auto rest = Load({Hopeless(0, 0.5, 2000), Draw(0, 0.25), Draw(1, 0.25)});
  ASSERT_TRUE(all.ok() && rest.ok()) << all.status() << rest.status();
  EXPECT_EQ((*rest)->report().draws, 2);
  for (const int level : {0, 1}) {
    const Mixture expected = *(*all)->PredictMixture(SmallQueries(5, 1), {.level = level});
    const Mixture actual = *(*rest)->PredictMixture(SmallQueries(5, 1), {.level = level});
    EXPECT_EQ(actual.weight, expected.weight);
    EXPECT_EQ(actual.mean, expected.mean);
  }
}

TEST_F(MfDgpBytesTest, WithoutADrawOfAllLevelsThatCanBeFactorisedTheErrorNamesLevel0) {
  for (const double log_variance : {2000.0, std::numeric_limits<double>::quiet_NaN()}) {
    const auto model = Load({Hopeless(0, 0.3, log_variance), Hopeless(0, 0.2, log_variance), Draw(1, 0.5)});
    ASSERT_FALSE(model.ok()) << log_variance;
    EXPECT_TRUE(
        IsError(model.status(), model.status().code(), {"no draw of the hyperparameters", "predicts level 0: "}));
  }
}

TEST_F(MfDgpBytesTest, WithoutWeightOfDrawsOfAllLevelsTheErrorNamesLevel0) {
  constexpr auto kInternal = absl::StatusCode::kInternal;
  EXPECT_TRUE(IsError(Load({Draw(0, 0), Draw(1, 1)}).status(), kInternal, {"predicts level 0"}));
  EXPECT_TRUE(IsError(Load({Draw(1, 1)}).status(), kInternal, {"predicts level 0"}));
}

TEST_F(MfDgpBytesTest, WithoutDrawsOfTheHighestLevelAloneTheOthersPredictIt) {
  const auto both = Load({Draw(0, 0.5), Hopeless(1, 0.5, 2000)}), one = Load({Draw(0, 1)});
  ASSERT_TRUE(both.ok() && one.ok()) << both.status() << one.status();
  for (const int level : {0, 1}) {
    EXPECT_EQ((*both)->Predict(SmallQueries(5, 1), {.level = level})->mean,
              (*one)->Predict(SmallQueries(5, 1), {.level = level})->mean);
  }
}

}  // namespace
}  // namespace fidelio
