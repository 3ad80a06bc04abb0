// A Gaussian conditioned on noisy observations by the textbook formulas, with an explicit inverse and determinant.
#ifndef FIDELIO_TESTS_SUPPORT_NAIVE_CONDITIONING_H_
#define FIDELIO_TESTS_SUPPORT_NAIVE_CONDITIONING_H_

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "core/base/types.h"

namespace fidelio {

struct NaiveConditioned {
  double log_likelihood;
  Vector mean;        // of the points that were not observed
  Matrix covariance;  // the same
};

// N(mean, k) over R points, of which y observes the first n with variances `noise`.
inline NaiveConditioned NaiveCondition(const Matrix& k, const Vector& mean, const Vector& y, const Vector& noise) {
  const Eigen::Index n = y.size(), rest = mean.size() - n;
  if (n == 0) return {0, mean, k};
  const Matrix kaa = k.topLeftCorner(n, n) + Matrix(noise.asDiagonal());
  const Matrix inverse = kaa.fullPivLu().inverse(), kba = k.bottomLeftCorner(rest, n);
  const Vector e = y - mean.head(n);
  const double log_determinant = kaa.fullPivLu().matrixLU().diagonal().array().abs().log().sum();
  return {
      -0.5 * e.dot(inverse * e) - 0.5 * log_determinant - 0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi),
      mean.tail(rest) + kba * inverse * e, k.bottomRightCorner(rest, rest) - kba * inverse * kba.transpose()};
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_NAIVE_CONDITIONING_H_
