// Stacks of one or two levels with fixed hyperparameters, and the same model without neighbours, for tests.
#ifndef FIDELIO_TESTS_CORE_NEIGHBOUR_STACK_CASES_H_
#define FIDELIO_TESTS_CORE_NEIGHBOUR_STACK_CASES_H_

#include <cmath>
#include <memory>
#include <vector>

#include "core/data/scaled_data.h"
#include "core/dgp/moments/moment_posterior.h"
#include "core/neighbour/neighbour_stack.h"
#include "core/neighbour/upper_points.h"
#include "tests/support/random_matrix.h"
#include "tests/support/small_data.h"

namespace fidelio {

// As in NeighbourLayout: ls[D] v n mu.
inline Vector FirstTheta(int dimension, bool learn_noise = true) {
  Vector theta(dimension + 2 + learn_noise);
  for (int d = 0; d < dimension; ++d) theta[d] = std::log(0.3 + 0.1 * d);
  theta[dimension] = std::log(1.3);
  if (learn_noise) theta[dimension + 1] = std::log(0.05);
  theta[theta.size() - 1] = 0.2;
  return theta;
}

// lsr[D] s2 vf lf lsd[D] vd va rh n.
inline Vector UpperTheta(int dimension, bool learn_noise = true) {
  Vector theta(2 * dimension + 6 + learn_noise);
  int at = 0;
  for (int d = 0; d < dimension; ++d) theta[at++] = std::log(0.9 - 0.1 * d);
  for (const double value : {0.1, 0.2, 0.8}) theta[at++] = std::log(value);
  for (int d = 0; d < dimension; ++d) theta[at++] = std::log(0.4 + 0.1 * d);
  theta[at++] = std::log(0.3);
  theta[at++] = std::log(0.05);
  theta[at++] = 1.2;
  if (learn_noise) theta[at++] = std::log(0.07);
  return theta;
}

// `sizes` observations per level, noisy; with `given_noise`, of known and differing variances at every level.
inline Dataset StackData(const std::vector<int>& sizes, int dimension, bool given_noise = false) {
  Dataset data = SmallData(sizes, dimension);
  uint64_t seed = 5;
  for (LevelData& level : data.levels) {
    level.y += 0.05 * RandomNormal(level.y.size(), 1, ++seed);
    if (given_noise) level.noise_variance = 0.01 * RandomUniform(level.y.size(), 1, ++seed).array() + 1e-4;
  }
  return data;
}

// The first `levels` levels of the data, each with the m nearest neighbours.
inline std::unique_ptr<NeighbourStack> MakeStack(const Dataset& data, int levels, int m, KernelFamily kernel,
                                                 int centres = 0) {
  auto stack = std::make_unique<NeighbourStack>(m, centres);
  const Scaling scaling = ScaleData(data).scaling;
  for (int t = 0; t < levels; ++t) {
    const bool learn = data.levels[t].noise_variance.size() == 0;
    stack->AddData(ScaledLevel(data.levels[t], scaling), 1);
    stack->Complete(kernel, t == 0 ? FirstTheta(data.dimension(), learn) : UpperTheta(data.dimension(), learn));
  }
  return stack;
}

// The recipe whose parameters are those above, in the same order.
inline Recipe PlainRecipe(KernelFamily kernel) {
  Recipe recipe = DefaultRecipe(kernel);
  recipe.warp = false;
  recipe.trend = false;
  recipe.tie = 0;
  recipe.links = {{.offset = true, .raw_zero = false, .weight = 1}};
  return recipe;
}

inline Vector ExactTheta(const Dataset& data) {
  std::vector<double> theta;
  for (size_t t = 0; t < data.levels.size(); ++t) {
    const bool learn = data.levels[t].noise_variance.size() == 0;
    const Vector own = t == 0 ? FirstTheta(data.dimension(), learn) : UpperTheta(data.dimension(), learn);
    theta.insert(theta.end(), own.begin(), own.end());
  }
  return Eigen::Map<const Vector>(theta.data(), static_cast<Eigen::Index>(theta.size()));
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_CORE_NEIGHBOUR_STACK_CASES_H_
