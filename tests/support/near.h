// Comparison of whole matrices and vectors, for tests.
#ifndef FIDELIO_TESTS_SUPPORT_NEAR_H_
#define FIDELIO_TESTS_SUPPORT_NEAR_H_

#include <algorithm>
#include <cmath>

#include "core/base/types.h"
#include "gtest/gtest.h"

namespace fidelio {

// Same shape, and |actual − expected| ≤ tolerance·max(1, max|expected|) everywhere. Non-finite elements are never near.
inline ::testing::AssertionResult Near(const Matrix& actual, const Matrix& expected, double tolerance) {
  if (actual.rows() != expected.rows() || actual.cols() != expected.cols()) {
    return ::testing::AssertionFailure() << actual.rows() << "×" << actual.cols() << ", want " << expected.rows() << "×"
                                         << expected.cols();
  }
  const double scale = expected.size() == 0 ? 1 : std::max(1.0, expected.cwiseAbs().maxCoeff());
  for (Eigen::Index j = 0; j < actual.cols(); ++j) {
    for (Eigen::Index i = 0; i < actual.rows(); ++i) {
      if (!(std::abs(actual(i, j) - expected(i, j)) <= tolerance * scale)) {
        return ::testing::AssertionFailure()
               << "element (" << i << "," << j << ") is " << actual(i, j) << ", want " << expected(i, j) << " to "
               << tolerance * scale << "; difference " << actual(i, j) - expected(i, j);
      }
    }
  }
  return ::testing::AssertionSuccess();
}

// |actual − expected| ≤ tolerance·max(|expected|, 1e-3·max|expected|) for every element: each to its own size, but for
// those that hardly matter beside the largest.
inline ::testing::AssertionResult RelativelyNear(const Matrix& actual, const Matrix& expected, double tolerance) {
  if (actual.rows() != expected.rows() || actual.cols() != expected.cols()) {
    return ::testing::AssertionFailure() << actual.rows() << "×" << actual.cols() << ", want " << expected.rows() << "×"
                                         << expected.cols();
  }
  const double floor = expected.size() == 0 ? 0 : 1e-3 * expected.cwiseAbs().maxCoeff();
  for (Eigen::Index j = 0; j < actual.cols(); ++j) {
    for (Eigen::Index i = 0; i < actual.rows(); ++i) {
      const double error = std::abs(actual(i, j) - expected(i, j));
      if (!(error <= tolerance * std::max(std::abs(expected(i, j)), floor))) {
        return ::testing::AssertionFailure()
               << "element (" << i << "," << j << ") is " << actual(i, j) << ", want " << expected(i, j)
               << "; relative error " << error / std::max(std::abs(expected(i, j)), floor) << ", want at most "
               << tolerance;
      }
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_NEAR_H_
