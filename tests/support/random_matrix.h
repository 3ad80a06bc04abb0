// Random matrices with fixed seeds, for tests.
#ifndef FIDELIO_TESTS_SUPPORT_RANDOM_MATRIX_H_
#define FIDELIO_TESTS_SUPPORT_RANDOM_MATRIX_H_

#include <cstdint>

#include "core/base/random.h"
#include "core/base/types.h"

namespace fidelio {

inline Matrix RandomNormal(Eigen::Index rows, Eigen::Index cols, uint64_t seed) {
  Random random(seed, 0x7e57);
  Matrix m(rows, cols);
  for (double& x : m.reshaped()) x = random.Normal();
  return m;
}

inline Matrix RandomUniform(Eigen::Index rows, Eigen::Index cols, uint64_t seed) {
  Random random(seed, 0x7e58);
  Matrix m(rows, cols);
  for (double& x : m.reshaped()) x = random.Uniform();
  return m;
}

// Symmetric with eigenvalues of about 0.3 to 4.
inline Matrix RandomPositiveDefinite(Eigen::Index n, uint64_t seed) {
  const Matrix g = RandomNormal(n, n + 2, seed);
  return 0.3 * Matrix::Identity(n, n) + g * g.transpose() / static_cast<double>(n + 2);
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_RANDOM_MATRIX_H_
