// Small multi-fidelity data for tests of whole fits: smooth functions of one or two inputs, fixed designs.
#ifndef FIDELIO_TESTS_SUPPORT_SMALL_DATA_H_
#define FIDELIO_TESTS_SUPPORT_SMALL_DATA_H_

#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "core/data/dataset.h"

namespace fidelio {

// Level t of a d-dimensional test function: each level adds a smooth discrepancy to a scaled level below.
inline double SmallFunction(const Eigen::RowVectorXd& x, int level) {
  const double low = std::sin(3 * x[0]) + (x.size() > 1 ? std::cos(2 * x[1]) : 0.0);
  return (1 + 0.5 * level) * low + 0.3 * level * x[0];
}

// sizes[t] observations of level t in [0,1]^dimension; the same seed gives the same data.
inline Dataset SmallData(const std::vector<int>& sizes, int dimension, uint64_t seed = 1) {
  Dataset data;
  for (size_t t = 0; t < sizes.size(); ++t) {
    Random random(seed, static_cast<uint32_t>(t));
    LevelData level;
    level.x.resize(sizes[t], dimension);
    level.y.resize(sizes[t]);
    for (int i = 0; i < sizes[t]; ++i) {
      for (int d = 0; d < dimension; ++d) level.x(i, d) = random.Uniform();
      level.y[i] = SmallFunction(level.x.row(i), static_cast<int>(t));
    }
    data.levels.push_back(level);
  }
  return data;
}

// Inputs that tests predict at.
inline Matrix SmallQueries(int n, int dimension, uint64_t seed = 99) {
  Random random(seed, 0);
  Matrix x(n, dimension);
  for (double& v : x.reshaped()) v = random.Uniform();
  return x;
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_SMALL_DATA_H_
