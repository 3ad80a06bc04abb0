// LinkKernel: the covariance of f_t = ρ f_{t−1} + g_t before y_t is seen, when f_{t−1} is Gaussian with mean m and
// covariance C at the points of interest (moment matching; numbers of points: R; all pairs at once).
//
//   K = κ_ρ·Σ_h E h(f, f') + vd·κ_δ + vl·trend + ρ²·C         h: the terms of the link (link_terms.h)
//
// (The constant va of the links is added by the caller.) Limits: C = 0 gives the paper's kernel at f = m plus the trend;
// without terms h it is the Kennedy–O'Hagan model.
#ifndef FIDELIO_CORE_KERNEL_LINK_KERNEL_H_
#define FIDELIO_CORE_KERNEL_LINK_KERNEL_H_

#include <array>

#include "core/base/types.h"
#include "core/kernel/link_terms.h"

namespace fidelio {

// The x-part, shared by all structures of a level: packed pairs of κ_ρ, κ_δ and the trend's kernel.
struct LinkInputs {
  Eigen::ArrayXd rho_kernel, delta_kernel, trend;
};

// ∂F/∂(parameters of the terms, log delta, rho, log trend), accumulated.
struct LinkScalarGradient {
  std::array<double, kLinkParameters> terms = {};
  double delta = 0, rho = 0, trend = 0;
};

// One evaluation, kept for its reverse pass. Buffers are reused. Not thread-safe.
class LinkKernel {
 public:
  // m, v: R; c: packed pairs. `trend_diagonal`: R, ignored when trend is 0.
  void Forward(const LinkScalars& scalars, const LinkInputs& inputs, const Vector& trend_diagonal, const Vector& m,
               const Vector& v, const Eigen::ArrayXd& c);

  const Eigen::ArrayXd& pairs() const { return pairs_; }
  const Vector& diagonal() const { return diagonal_; }

  // Takes ∂F/∂pairs (each pair counted once) and ∂F/∂diagonal. Adds to rho_kernel_bar, delta_kernel_bar (∂F/∂κ) and to
  // `scalars_bar`; overwrites m_bar, v_bar, c_bar with the part of ∂F that flows through K.
  void Reverse(const LinkInputs& inputs, const Vector& trend_diagonal, const Vector& m, const Vector& v,
               const Eigen::ArrayXd& c, const Eigen::ArrayXd& pairs_bar, const ConstVectorRef& diagonal_bar,
               Eigen::ArrayXd& rho_kernel_bar, Eigen::ArrayXd& delta_kernel_bar, LinkScalarGradient& scalars_bar,
               Vector& m_bar, Vector& v_bar, Eigen::ArrayXd& c_bar);

 private:
  LinkScalars p_;
  std::array<Eigen::ArrayXd, kLinkKept> kept_;  // of the terms, per pair
  Eigen::ArrayXd pairs_;                        // K
  Vector diagonal_;
};

// The same covariance between R points (m, v; rows) and M query points (query_m, query_v; columns); everything else R×M.
// `trend` may be empty without trend.
void CrossLinkKernel(const LinkScalars& scalars, const Matrix& rho_kernel, const Matrix& delta_kernel,
                     const ConstMatrixRef& trend, const Vector& m, const Vector& v, const Vector& query_m,
                     const Vector& query_v, const Matrix& c, Matrix& k);

// Its reverse pass with respect to the query points: from ∂F/∂k to ∂F/∂κ_ρ and ∂F/∂c (R×M, overwritten), and what flows to
// the query points' moments (M, added).
void ReverseCrossLinkKernel(const LinkScalars& scalars, const Matrix& rho_kernel, const Vector& m, const Vector& v,
                            const Vector& query_m, const Vector& query_v, const Matrix& c, const Matrix& k_bar,
                            Matrix& rho_bar, Matrix& c_bar, Vector& query_m_bar, Vector& query_v_bar);

// The diagonal of the same covariance without the trend, plus a constant: R.
Vector LinkDiagonal(const LinkScalars& scalars, const Vector& m, const Vector& v, double constant);

// Its reverse pass: adds to m_bar and v_bar.
void ReverseLinkDiagonal(const LinkScalars& scalars, const Vector& m, const Vector& v, const ConstVectorRef& bar,
                         Vector& m_bar, Vector& v_bar);

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_LINK_KERNEL_H_
