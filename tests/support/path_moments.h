// Whether many functions have given means and covariances, within the error that so many leave.
#ifndef FIDELIO_TESTS_SUPPORT_PATH_MOMENTS_H_
#define FIDELIO_TESTS_SUPPORT_PATH_MOMENTS_H_

#include <cmath>

#include "core/base/types.h"
#include "gtest/gtest.h"

namespace fidelio {

// What the given moments may be off by, besides: means in standard deviations, variances and covariances as part of the product of
// two.
struct MomentRoom {
  double mean = 0, variance = 0, covariance = 0;
};

// `paths`: a function per row, a point per column. Errors are estimated from the paths themselves, whose tails may be heavy.
inline void ExpectMoments(const Matrix& paths, const Vector& mean, const Matrix& covariance,
                          const MomentRoom& room = {}) {
  constexpr double kErrors = 4.5;
  const double count = static_cast<double>(paths.rows());
  const Matrix deviations = paths.rowwise() - mean.transpose();
  const Vector sd = covariance.diagonal().cwiseSqrt();
  for (Eigen::Index i = 0; i < paths.cols(); ++i) {
    const double own_sd = std::sqrt(deviations.col(i).squaredNorm() / count);
    EXPECT_NEAR(deviations.col(i).mean(), 0, kErrors * own_sd / std::sqrt(count) + room.mean * sd[i]) << "mean " << i;
    for (Eigen::Index j = 0; j <= i; ++j) {
      const Eigen::ArrayXd products = deviations.col(i).cwiseProduct(deviations.col(j));
      const double error = std::sqrt((products - products.mean()).square().mean() / count);
      EXPECT_NEAR(products.mean(), covariance(i, j),
                  kErrors * error + (i == j ? room.variance : room.covariance) * sd[i] * sd[j])
          << "covariance " << i << "," << j;
    }
  }
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_PATH_MOMENTS_H_
