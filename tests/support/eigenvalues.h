// Positive semi-definiteness, for tests.
#ifndef FIDELIO_TESTS_SUPPORT_EIGENVALUES_H_
#define FIDELIO_TESTS_SUPPORT_EIGENVALUES_H_

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "core/base/types.h"
#include "gtest/gtest.h"

namespace fidelio {

// Exactly symmetric, with no eigenvalue below −tolerance times the largest or, if that is more, `scale`: the size of what a
// covariance was computed from, where most of it cancels.
inline ::testing::AssertionResult IsPositiveSemidefinite(const Matrix& a, double tolerance, double scale = 0) {
  if (a != a.transpose()) return ::testing::AssertionFailure() << "not symmetric";
  const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(values.minCoeff() >= -tolerance * std::max(scale, values.maxCoeff()))) {
    return ::testing::AssertionFailure() << "eigenvalues from " << values.minCoeff() << " to " << values.maxCoeff();
  }
  return ::testing::AssertionSuccess();
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_EIGENVALUES_H_
