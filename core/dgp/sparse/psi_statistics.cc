#include "core/dgp/sparse/psi_statistics.h"

#include <cmath>

#include "core/kernel/stationary.h"

namespace fidelio {

using Eigen::Index;

PsiStatistics::PsiStatistics(const LayerShape& shape, const Vector& theta, const Matrix& z, const Vector& zf,
                             const Matrix& x, const Vector& mean, const Vector& variance, const Vector& weight)
    : zero(x.rows()), one(z.rows(), x.rows()), two(Matrix::Zero(z.rows(), z.rows())) {
  const Index d = shape.dimension, inducing = z.rows();
  const double g = std::exp(theta[shape.linear()]), vf = std::exp(theta[shape.nonlinear()]);
  const double l2 = std::exp(2 * theta[shape.link_lengthscale()]), vd = std::exp(theta[shape.delta_variance()]);
  const auto kernel = [&](int at) {
    const auto inverse = (-theta.segment(at, d).array()).exp().matrix().asDiagonal();
    Matrix k;
    CrossKernel(shape.family, 1, z * inverse, x * inverse, k);
    return k;
  };
  const Matrix rho = kernel(shape.rho()), delta = kernel(shape.delta());
  Matrix link(inducing, inducing);
  for (Index i = 0; i < x.rows(); ++i) {
    const double m = mean[i], v = variance[i], square = m * m + v;
    zero[i] = g * square + vf + vd;
    const Eigen::ArrayXd p = vf * std::sqrt(l2 / (l2 + v)) * (-(m - zf.array()).square() / (2 * (l2 + v))).exp();
    const Eigen::ArrayXd tilted = p * (m * l2 + zf.array() * v) / (l2 + v);  // E[f·k_f(f, z)]
    const Eigen::ArrayXd first = g * m * zf.array() + p;
    const double both = vf * vf * std::sqrt(l2 / (l2 + 2 * v));
    for (Index b = 0; b < inducing; ++b) {
      for (Index a = 0; a < inducing; ++a) {
        const double apart = zf[a] - zf[b], off = m - 0.5 * (zf[a] + zf[b]);
        link(a, b) = g * g * square * zf[a] * zf[b] + g * (zf[a] * tilted[b] + zf[b] * tilted[a]) +
                     both * std::exp(-apart * apart / (4 * l2) - off * off / (l2 + 2 * v));
      }
    }
    const Vector r = rho.col(i), own = vd * delta.col(i), linked = r.array() * first;
    one.col(i) = linked + own;
    two += weight[i] * (r.asDiagonal() * link * r.asDiagonal() + linked * own.transpose() + own * linked.transpose() +
                        own * own.transpose());
  }
}

}  // namespace fidelio
