// The moment-matched covariance of a link by its formula, one pair of points at a time.
#ifndef FIDELIO_TESTS_SUPPORT_NAIVE_LINK_H_
#define FIDELIO_TESTS_SUPPORT_NAIVE_LINK_H_

#include <algorithm>
#include <cmath>

#include "core/base/types.h"
#include "core/kernel/link_kernel.h"

namespace fidelio {

// Covariance of f_t = ρ f_{t−1} + g_t at two points (without the constant va), when f_{t−1} has means m, m2, variances
// v, v2 and covariance c there, and the x-kernels are kappa_rho, kappa_delta and trend.
inline double NaiveLink(const LinkScalars& p, double kappa_rho, double kappa_delta, double trend, double m, double m2,
                        double v, double v2, double c) {
  const double s = std::max(v + v2 - 2 * c, 0.0), l2 = p.terms.nonlinear.lengthscale2;
  const double kf =
      p.terms.nonlinear.variance * std::sqrt(l2 / (l2 + s)) * std::exp(-(m - m2) * (m - m2) / (2 * (l2 + s)));
  return p.rho * p.rho * c + kappa_rho * (p.terms.linear.variance * (m * m2 + c) + kf) + p.delta * kappa_delta +
         p.trend * trend;
}

// The same for all pairs of R points; everything R×R but m.
inline Matrix NaiveLinkMatrix(const LinkScalars& p, const Matrix& kappa_rho, const Matrix& kappa_delta,
                              const Matrix& trend, const Vector& m, const Matrix& c) {
  Matrix k(m.size(), m.size());
  for (Eigen::Index i = 0; i < m.size(); ++i) {
    for (Eigen::Index j = 0; j < m.size(); ++j) {
      k(i, j) = NaiveLink(p, kappa_rho(i, j), kappa_delta(i, j), trend(i, j), m[i], m[j], c(i, i), c(j, j), c(i, j));
    }
  }
  return k;
}

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_NAIVE_LINK_H_
