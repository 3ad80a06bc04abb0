#include "core/dgp/link_kernel.h"

namespace fidelio {

using Eigen::ArrayXd;
using Eigen::Index;

void LinkKernel::Forward(const LinkScalars& scalars, const LinkInputs& inputs, const Vector& trend_diagonal,
                         const Vector& m, const Vector& v, const ArrayXd& c) {
  p_ = scalars;
  const Index n = m.size(), pairs = c.size();
  difference_.resize(pairs);
  spread_.resize(pairs);
  second_moment_.resize(pairs);
  for (Index j = 0, at = 0; j + 1 < n; at += n - 1 - j, ++j) {
    const Index below = n - 1 - j;
    difference_.segment(at, below) = m.tail(below).array() - m[j];
    second_moment_.segment(at, below) = m.tail(below).array() * m[j];
    spread_.segment(at, below) = v.tail(below).array() + v[j];
  }
  second_moment_ += c;
  spread_ = (spread_ - 2 * c).max(0.0);
  inverse_ = (p_.lengthscale2 + spread_).inverse();
  kf_ = p_.nonlinear * (p_.lengthscale2 * inverse_).sqrt() * (-0.5 * difference_.square() * inverse_).exp();
  pairs_ =
      inputs.rho_kernel * (p_.linear * second_moment_ + kf_) + p_.delta * inputs.delta_kernel + (p_.rho * p_.rho) * c;
  diagonal_ = (p_.linear * (m.array().square() + v.array()) + (p_.nonlinear + p_.delta) + p_.rho * p_.rho * v.array());
  if (p_.trend > 0) {
    pairs_ += p_.trend * inputs.trend;
    diagonal_ += p_.trend * trend_diagonal;
  }
}

void LinkKernel::Reverse(const LinkInputs& inputs, const Vector& trend_diagonal, const Vector& m, const Vector& v,
                         const ArrayXd& c, const ArrayXd& pairs_bar, const ConstVectorRef& diagonal_bar,
                         ArrayXd& rho_kernel_bar, ArrayXd& delta_kernel_bar, LinkScalarGradient& scalars_bar,
                         Vector& m_bar, Vector& v_bar, ArrayXd& c_bar) {
  const Index n = m.size();
  const double l2 = p_.lengthscale2, rho2 = p_.rho * p_.rho;
  const auto d_bar = diagonal_bar.array();
  base_bar_ = pairs_bar * inputs.rho_kernel;
  kf_bar_ = base_bar_ * kf_;  // ∂F/∂log kf
  // log kf = const + ½ log q − ½ δ² q with q = 1/(l²+S): ∂/∂S = −½ q + ½ δ² q².
  spread_bar_ = (spread_ > 0.0).select(kf_bar_ * (0.5 * inverse_ * (difference_.square() * inverse_ - 1)), 0.0);
  rho_kernel_bar += pairs_bar * (p_.linear * second_moment_ + kf_);
  delta_kernel_bar += p_.delta * pairs_bar;
  scalars_bar.linear +=
      p_.linear * ((base_bar_ * second_moment_).sum() + (d_bar * (m.array().square() + v.array())).sum());
  scalars_bar.nonlinear += kf_bar_.sum() + p_.nonlinear * d_bar.sum();
  scalars_bar.log_lengthscale += (kf_bar_ * (1 + l2 * inverse_ * (difference_.square() * inverse_ - 1))).sum();
  scalars_bar.delta += p_.delta * ((pairs_bar * inputs.delta_kernel).sum() + d_bar.sum());
  scalars_bar.rho += 2 * p_.rho * ((pairs_bar * c).sum() + (d_bar * v.array()).sum());
  if (p_.trend > 0) {
    scalars_bar.trend += p_.trend * ((pairs_bar * inputs.trend).sum() + diagonal_bar.dot(trend_diagonal));
  }
  base_bar_ *= p_.linear;              // ∂F/∂(m m' + C)
  kf_bar_ *= -difference_ * inverse_;  // ∂F/∂(m_i − m_j)
  c_bar = base_bar_ + rho2 * pairs_bar - 2 * spread_bar_;
  m_bar = (2 * p_.linear) * d_bar * m.array();
  v_bar = (p_.linear + rho2) * d_bar;
  for (Index j = 0, at = 0; j + 1 < n; at += n - 1 - j, ++j) {
    const Index below = n - 1 - j;
    const auto s2_part = base_bar_.segment(at, below);
    const auto difference_part = kf_bar_.segment(at, below);
    const auto spread_part = spread_bar_.segment(at, below);
    m_bar.tail(below).array() += difference_part + s2_part * m[j];
    m_bar[j] += (s2_part * m.tail(below).array() - difference_part).sum();
    v_bar.tail(below).array() += spread_part;
    v_bar[j] += spread_part.sum();
  }
}

void CrossLinkKernel(const LinkScalars& p, const Matrix& rho_kernel, const Matrix& delta_kernel, const Matrix& trend,
                     const Vector& m, const Vector& v, const Vector& query_m, const Vector& query_v, Matrix& c) {
  const double l2 = p.lengthscale2;
  const Index n = c.rows();
  ArrayXd q(n), d2(n);
  for (Index j = 0; j < c.cols(); ++j) {
    auto cj = c.col(j).array();
    q = (l2 + (v.array() + query_v[j] - 2 * cj).max(0.0)).inverse();
    d2 = (m.array() - query_m[j]).square();
    cj = rho_kernel.col(j).array() *
             (p.linear * (m.array() * query_m[j] + cj) + p.nonlinear * (l2 * q).sqrt() * (-0.5 * d2 * q).exp()) +
         p.delta * delta_kernel.col(j).array() + (p.rho * p.rho) * cj;
  }
  if (p.trend > 0) c += p.trend * trend;
}

}  // namespace fidelio
