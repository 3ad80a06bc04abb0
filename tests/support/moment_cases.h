// Data sets, recipes and hyperparameters that between them reach every term of the moment-matched MF-DGP.
#ifndef FIDELIO_TESTS_SUPPORT_MOMENT_CASES_H_
#define FIDELIO_TESTS_SUPPORT_MOMENT_CASES_H_

#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/data/scaled_data.h"
#include "core/dgp/moments/moment_model.h"
#include "core/dgp/moments/recipe.h"
#include "tests/support/named_parameters.h"
#include "tests/support/random_matrix.h"
#include "tests/support/reference_recipes.h"

namespace fidelio {

struct MomentCase {
  std::string name;
  std::vector<int> counts;  // observations per level
  Recipe recipe;
  int dimension = 2;
  bool given_noise = false;  // at every other level
  bool nested = false;       // inputs of a level are among those of the level below
};

inline void PrintTo(const MomentCase& c, std::ostream* out) { *out << c.name; }

// f_0 = sin(3Σx) + 1.5, f_t = 1.1 f_{t−1} + 0.3 cos(4x₁) + 0.1 f_{t−1}² − 0.2.
inline Dataset MomentData(const MomentCase& c) {
  Dataset data;
  Matrix below;
  for (size_t t = 0; t < c.counts.size(); ++t) {
    LevelData level;
    const bool from_below = c.nested && t > 0 && below.rows() >= c.counts[t];
    level.x = from_below ? Matrix(below.topRows(c.counts[t]))
                         : Matrix(2 * RandomUniform(c.counts[t], c.dimension, 100 + t).array() - 0.5);
    if (level.x.rows() > 0) below = level.x;
    level.y.resize(c.counts[t]);
    for (int i = 0; i < c.counts[t]; ++i) {
      double f = std::sin(3 * level.x.row(i).sum()) + 1.5;
      for (size_t s = 0; s < t; ++s) f = 1.1 * f + 0.3 * std::cos(4 * level.x(i, 0)) + 0.1 * f * f - 0.2;
      level.y[i] = f;
    }
    if (c.given_noise && t % 2 == 1)
      level.noise_variance = 0.05 * RandomUniform(c.counts[t], 1, 200 + t).array() + 0.01;
    data.levels.push_back(std::move(level));
  }
  return data;
}

inline std::shared_ptr<const MomentModel> MakeMomentModel(const MomentCase& c) {
  return std::make_shared<MomentModel>(ScaleData(MomentData(c)), c.recipe);
}

// Around the prior's centre, with noise and amplitudes large enough for every term to matter and for differences to be
// accurate.
inline NamedParameters MomentTheta(const MomentModel& model, uint64_t seed = 7) {
  const ParameterLayout& layout = model.layout.parameters;
  const Vector z = RandomNormal(layout.size(), 1, seed);
  NamedParameters p(layout, layout.Centres() + 0.3 * layout.Scales().cwiseProduct(z));
  for (int t = 0; t < model.data.levels(); ++t) {
    const std::string level = std::to_string(t);
    if (p.Has("n" + level)) p.Set("n" + level, -1.6 + 0.2 * t);
    if (p.Has("vl" + level)) p.Set("vl" + level, -1.1 - 0.4 * t);
    if (t == 0) continue;
    p.Set("s2" + level, -1.7 - 0.2 * t);
    p.Set("vf" + level, -1.2 + 0.3 * t);
    p.Set("vd" + level, -1.5);
    p.Set("rh" + level, 0.9 + 0.1 * t);
  }
  return p;
}

// Both reference recipes with a trend of their own.
inline Recipe WithTrend(Recipe recipe, double curvature) {
  recipe.trend = true;
  recipe.trend_curvature = curvature;
  recipe.trend_amplitude = Prior::Student(std::log(0.1), 2.5, 4);
  recipe.delta_trend = Prior::Normal(std::log(1e-3), 2.5);
  return recipe;
}

inline Recipe WithKernel(Recipe recipe, KernelFamily kernel) {
  recipe.kernel = kernel;
  return recipe;
}

inline Recipe WithUnequalLinks(Recipe recipe) {
  recipe.links = {{.offset = true, .raw_zero = false, .weight = 0.6},
                  {.offset = false, .raw_zero = true, .weight = 0.3},
                  {.offset = true, .raw_zero = true, .weight = 0.2}};
  return recipe;
}

inline std::vector<MomentCase> MomentCases() {
  const Recipe one = ReferenceRecipe1(), two = ReferenceRecipe2();
  return {
      {.name = "OneLevel", .counts = {8}, .recipe = one},
      {.name = "OneLevelWithEverything", .counts = {8}, .recipe = WithTrend(two, 0.5)},
      {.name = "TwoLevels", .counts = {8, 4}, .recipe = one},
      {.name = "TwoLevelsWithTwoLinks", .counts = {8, 4}, .recipe = two},
      {.name = "ThreeLevels", .counts = {7, 5, 3}, .recipe = one},
      {.name = "ThreeLevelsWithTwoLinks", .counts = {7, 5, 3}, .recipe = two},
      {.name = "FourLevels", .counts = {6, 5, 4, 3}, .recipe = two},
      {.name = "Nested", .counts = {8, 5, 3}, .recipe = two, .nested = true},
      {.name = "MoreDataAbove", .counts = {3, 9}, .recipe = two},
      {.name = "EmptyMiddleLevel", .counts = {7, 0, 4}, .recipe = two},
      {.name = "EmptyTopLevel", .counts = {7, 4, 0}, .recipe = two},
      {.name = "OnePointPerLevel", .counts = {1, 1, 1}, .recipe = two},
      {.name = "GivenNoise", .counts = {7, 5, 3}, .recipe = two, .given_noise = true},
      {.name = "Matern12", .counts = {7, 5, 3}, .recipe = WithKernel(two, KernelFamily::kMatern12)},
      {.name = "Matern32", .counts = {7, 5, 3}, .recipe = WithKernel(two, KernelFamily::kMatern32)},
      {.name = "Matern52", .counts = {7, 5, 3}, .recipe = WithKernel(two, KernelFamily::kMatern52)},
      {.name = "LinearTrend", .counts = {7, 5, 3}, .recipe = WithTrend(one, 0)},
      {.name = "CurvedTrendAndWarp", .counts = {7, 5, 3}, .recipe = WithTrend(two, 0.5)},
      {.name = "ThreeUnequalLinks", .counts = {6, 4, 3}, .recipe = WithUnequalLinks(two)},
      {.name = "OneDimension", .counts = {8, 5}, .recipe = WithTrend(two, 0.5), .dimension = 1},
      {.name = "FiveDimensionsWithEverything",
       .counts = {12, 7, 4},
       .recipe = WithKernel(WithTrend(WithUnequalLinks(two), 0.3), KernelFamily::kMatern52),
       .dimension = 5,
       .given_noise = true},
  };
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_MOMENT_CASES_H_
