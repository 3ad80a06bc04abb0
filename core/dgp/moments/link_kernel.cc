#include "core/dgp/moments/link_kernel.h"

#include <cmath>

#include "core/linalg/lanes.h"
#include "core/linalg/packed.h"

namespace fidelio {

using Eigen::ArrayXd;
using Eigen::Index;

void LinkKernel::Forward(const LinkScalars& scalars, const LinkInputs& inputs, const Vector& trend_diagonal,
                         const Vector& m, const Vector& v, const ArrayXd& c) {
  p_ = scalars;
  const Index n = m.size();
  const double rho2 = p_.rho * p_.rho;
  inverse_.resize(c.size());
  kf_.resize(c.size());
  pairs_.resize(c.size());
  ForPairColumns(n, [&](Index j, Index first) {
    ForEachLane(j + 1, n, [&]<typename T>(Index i) {
      const Index at = first + i;
      const T c_ij = Load<T>(c.data() + at), m_i = Load<T>(m.data() + i), difference = m_i - m[j];
      const T spread = Load<T>(v.data() + i) + v[j] - 2.0 * c_ij;
      const T inverse = 1.0 / (p_.lengthscale2 + (spread > 0.0 ? spread : T{}));
      const T kf =
          p_.nonlinear * Sqrt(p_.lengthscale2 * inverse) * ExpOfNegative(-0.5 * difference * difference * inverse);
      Store(inverse, inverse_.data() + at);
      Store(kf, kf_.data() + at);
      Store(Load<T>(inputs.rho_kernel.data() + at) * (p_.linear * (m_i * m[j] + c_ij) + kf) +
                p_.delta * Load<T>(inputs.delta_kernel.data() + at) + rho2 * c_ij,
            pairs_.data() + at);
    });
  });
  diagonal_ = (p_.linear * (m.array().square() + v.array()) + (p_.nonlinear + p_.delta) + rho2 * v.array());
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
  c_bar.resize(c.size());
  m_bar = (2 * p_.linear) * d_bar * m.array();
  v_bar = (p_.linear + rho2) * d_bar;
  LaneSum linear, nonlinear, log_lengthscale, delta, rho;
  ForPairColumns(n, [&](Index j, Index first) {
    LaneSum m_sum, v_sum;
    ForEachLane(j + 1, n, [&]<typename T>(Index i) {
      const Index at = first + i;
      const T bar = Load<T>(pairs_bar.data() + at), c_ij = Load<T>(c.data() + at), m_i = Load<T>(m.data() + i);
      const T kf = Load<T>(kf_.data() + at), q = Load<T>(inverse_.data() + at);
      const T difference = m_i - m[j], second_moment = m_i * m[j] + c_ij;
      const T base_bar = bar * Load<T>(inputs.rho_kernel.data() + at);
      const T kf_bar = base_bar * kf;  // ∂F/∂log kf
      // log kf = const + ½ log q − ½ δ² q with q = 1/(l²+S): ∂/∂S = −½ q + ½ δ² q².
      const T excess = difference * difference * q - 1.0;
      const T spread = Load<T>(v.data() + i) + v[j] - 2.0 * c_ij;
      const T spread_bar = spread > 0.0 ? 0.5 * q * kf_bar * excess : T{};
      const T moment_bar = p_.linear * base_bar;          // ∂F/∂(m m' + C)
      const T difference_bar = -kf_bar * difference * q;  // ∂F/∂(m_i − m_j)
      linear += base_bar * second_moment;
      nonlinear += kf_bar;
      log_lengthscale += kf_bar * (1.0 + l2 * q * excess);
      delta += bar * Load<T>(inputs.delta_kernel.data() + at);
      rho += bar * c_ij;
      Store(moment_bar + rho2 * bar - 2.0 * spread_bar, c_bar.data() + at);
      Store(Load<T>(rho_kernel_bar.data() + at) + bar * (p_.linear * second_moment + kf), rho_kernel_bar.data() + at);
      Store(Load<T>(delta_kernel_bar.data() + at) + p_.delta * bar, delta_kernel_bar.data() + at);
      Store(Load<T>(m_bar.data() + i) + difference_bar + moment_bar * m[j], m_bar.data() + i);
      Store(Load<T>(v_bar.data() + i) + spread_bar, v_bar.data() + i);
      m_sum += moment_bar * m_i - difference_bar;
      v_sum += spread_bar;
    });
    m_bar[j] += m_sum.Total();
    v_bar[j] += v_sum.Total();
  });
  scalars_bar.linear += p_.linear * (linear.Total() + (d_bar * (m.array().square() + v.array())).sum());
  scalars_bar.nonlinear += nonlinear.Total() + p_.nonlinear * d_bar.sum();
  scalars_bar.log_lengthscale += log_lengthscale.Total();
  scalars_bar.delta += p_.delta * (delta.Total() + d_bar.sum());
  scalars_bar.rho += 2 * p_.rho * (rho.Total() + (d_bar * v.array()).sum());
  if (p_.trend > 0) {
    scalars_bar.trend += p_.trend * ((pairs_bar * inputs.trend).sum() + diagonal_bar.dot(trend_diagonal));
  }
}

void CrossLinkKernel(const LinkScalars& p, const Matrix& rho_kernel, const Matrix& delta_kernel,
                     const ConstMatrixRef& trend, const Vector& m, const Vector& v, const Vector& query_m,
                     const Vector& query_v, const Matrix& c, Matrix& k) {
  const Index n = c.rows();
  const double rho2 = p.rho * p.rho, scale = p.nonlinear * std::sqrt(p.lengthscale2);
  k.resize(n, c.cols());
  for (Index j = 0; j < c.cols(); ++j) {
    const double m_j = query_m[j], v_j = query_v[j];
    const double* const c_column = c.col(j).data();
    const double* const rho_column = rho_kernel.col(j).data();
    const double* const delta_column = delta_kernel.col(j).data();
    double* const k_column = k.col(j).data();
    ForEachLaneOverlapping(n, [&]<typename T>(Index i) {
      const T c_ij = Load<T>(c_column + i), m_i = Load<T>(m.data() + i), difference = m_i - m_j;
      const T spread = Load<T>(v.data() + i) + v_j - 2.0 * c_ij;
      const T inverse = 1.0 / (p.lengthscale2 + (spread > 0.0 ? spread : T{}));
      const T kf = scale * Sqrt(inverse) * ExpOfNegative(-0.5 * difference * difference * inverse);
      Store(Load<T>(rho_column + i) * (p.linear * (m_i * m_j + c_ij) + kf) + p.delta * Load<T>(delta_column + i) +
                rho2 * c_ij,
            k_column + i);
    });
  }
  if (p.trend > 0) k += p.trend * trend;
}

void ReverseCrossLinkKernel(const LinkScalars& p, const Matrix& rho_kernel, const Vector& m, const Vector& v,
                            const Vector& query_m, const Vector& query_v, const Matrix& c, const Matrix& k_bar,
                            Matrix& rho_bar, Matrix& c_bar, Vector& query_m_bar, Vector& query_v_bar) {
  const double rho2 = p.rho * p.rho;
  rho_bar.resize(c.rows(), c.cols());
  c_bar.resize(c.rows(), c.cols());
  for (Index j = 0; j < c.cols(); ++j) {
    const auto c_j = c.col(j).array();
    const auto bar = k_bar.col(j).array();
    const ArrayXd spread = (v.array() + query_v[j] - 2 * c_j).max(0.0);
    const ArrayXd q = (p.lengthscale2 + spread).inverse();
    const ArrayXd difference = m.array() - query_m[j];
    const ArrayXd kf = p.nonlinear * (p.lengthscale2 * q).sqrt() * (-0.5 * difference.square() * q).exp();
    const ArrayXd base = bar * rho_kernel.col(j).array();
    const ArrayXd spread_bar = (spread > 0.0).select(base * kf * 0.5 * q * (difference.square() * q - 1), 0.0);
    rho_bar.col(j) = bar * (p.linear * (m.array() * query_m[j] + c_j) + kf);
    c_bar.col(j) = p.linear * base + rho2 * bar - 2 * spread_bar;
    query_m_bar[j] += (base * (p.linear * m.array() + kf * difference * q)).sum();
    query_v_bar[j] += spread_bar.sum();
  }
}

}  // namespace fidelio
