#include "core/dgp/moments/moment_layout.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/moment_cases.h"
#include "tests/support/reference_recipes.h"

namespace fidelio {
namespace {

std::vector<std::string> Names(const MomentLayout& layout) {
  std::vector<std::string> names;
  for (const ParameterBlock& block : layout.parameters.blocks()) names.push_back(block.name);
  return names;
}

TEST(MomentLayoutTest, HoldsTheTermsOfTheRecipeInOrder) {
  const MomentLayout layout(ReferenceRecipe1(), 3, {true, true});
  EXPECT_EQ(Names(layout), (std::vector<std::string>{"ls0", "v0", "n0", "mu0", "lsr1", "s21", "vf1", "lf1", "lsd1",
                                                     "vd1", "va1", "rh1", "n1"}));
  EXPECT_EQ(layout.parameters.size(), 3 + 3 + 3 + 3 + 3 + 4);
}

TEST(MomentLayoutTest, WarpAndTrendAddTheirParameters) {
  const MomentLayout layout(WithTrend(ReferenceRecipe2(), 0), 2, {true, true});
  EXPECT_EQ(Names(layout), (std::vector<std::string>{"ls0", "cw", "v0", "n0", "mu0", "vl0", "lsr1", "s21", "vf1", "lf1",
                                                     "lsd1", "vd1", "va1", "rh1", "n1", "vl1"}));
}

TEST(MomentLayoutTest, AbsentTermsHaveNoPlace) {
  const MomentLayout layout(ReferenceRecipe1(), 2, {false, true, false});
  EXPECT_EQ(layout.first.warp, -1);
  EXPECT_EQ(layout.noise[0], -1);
  EXPECT_GE(layout.noise[1], 0);
  EXPECT_EQ(layout.noise[2], -1);
  EXPECT_EQ(layout.trend, (std::vector<int>{-1, -1, -1}));
}

TEST(MomentLayoutTest, OneLevelHasNoLinks) {
  const MomentLayout layout(ReferenceRecipe1(), 2, {true});
  EXPECT_TRUE(layout.upper.empty());
  EXPECT_EQ(layout.parameters.size(), 5);
}

TEST(MomentLayoutTest, LengthscalePriorsShiftWithTheDimension) {
  const Recipe recipe = ReferenceRecipe1();
  const MomentLayout layout(recipe, 9, {true, true});
  const Vector centres = layout.parameters.Centres();
  EXPECT_NEAR(centres[layout.first.lengthscale], recipe.lengthscale.centre + std::log(3.0), 1e-14);
  EXPECT_NEAR(centres[layout.upper[0].rho_lengthscale], recipe.rho_lengthscale.centre + std::log(3.0), 1e-14);
  EXPECT_NEAR(centres[layout.upper[0].delta_lengthscale], recipe.delta_lengthscale.centre + std::log(3.0), 1e-14);
  EXPECT_NEAR(layout.lengthscale_centre, recipe.lengthscale.centre + std::log(3.0), 1e-14);
}

}  // namespace
}  // namespace fidelio
