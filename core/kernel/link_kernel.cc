#include "core/kernel/link_kernel.h"

#include <utility>

#include "core/linalg/lanes.h"
#include "core/linalg/packed.h"

namespace fidelio {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

// Σ_h E h of a pair, from the term `first` on; `kept`: what those terms keep.
template <size_t first = 0, typename Terms, typename T>
T LinkMoment(const Terms& terms, const LinkPair<T>& pair, T* kept) {
  if constexpr (first == std::tuple_size_v<Terms>) {
    return -T{};
  } else {
    const auto& term = std::get<first>(terms);
    const T rest = LinkMoment<first + 1>(terms, pair, kept + std::decay_t<decltype(term)>::kKept);
    return term.Moment(pair, kept) + rest;
  }
}

// The same from what was kept; adds the adjoints of the pair and the sums of the parameters.
template <typename Terms, typename T, typename Sum>
T ReverseLinkMoment(const Terms& terms, const LinkPair<T>& pair, const T* kept, const T& bar, LinkPairAdjoints<T>& to,
                    Sum* sums) {
  T sum = -T{};
  ForEachTerm(terms, [&]<int parameter, int kept_at>(const auto& term) {
    sum += term.Kept(pair, kept + kept_at);
    term.Reverse(pair, kept + kept_at, bar, to, sums + parameter);
  });
  return sum;
}

double ConstantOf(const LinkScalars& p) {
  double constant = 0;
  ForEachTerm(p.terms.All(), [&]<int, int>(const auto& term) { constant += term.constant(); });
  return constant;
}

template <typename Terms, typename T>
T LinkDiagonalAt(const Terms& terms, double rho2, double constant, const T& m, const T& v) {
  T sum = -T{};
  ForEachTerm(terms, [&]<int, int>(const auto& term) { sum += term.Diagonal(m, v); });
  return sum + constant + rho2 * v;
}

// Swallows the sums of parameters where nobody asks for them.
struct NoSum {
  template <typename T>
  void operator+=(const T&) {}
};

}  // namespace

void LinkKernel::Forward(const LinkScalars& scalars, const LinkInputs& inputs, const Vector& trend_diagonal,
                         const Vector& m, const Vector& v, const ArrayXd& c) {
  p_ = scalars;
  const Index n = m.size();
  const double rho2 = p_.rho * p_.rho;
  const auto terms = std::as_const(p_.terms).All();
  std::array<double*, kLinkKept> kept_to;
  for (size_t k = 0; k < kept_.size(); ++k) {
    kept_[k].resize(c.size());
    kept_to[k] = kept_[k].data();
  }
  pairs_.resize(c.size());
  ForPairColumns(n, [&](Index j, Index first) {
    ForEachLane(j + 1, n, [&]<typename T>(Index i) {
      const Index at = first + i;
      const LinkPair<T> pair(Load<T>(m.data() + i), m[j], Load<T>(v.data() + i), v[j], Load<T>(c.data() + at));
      T kept[kLinkKept];
      const T link = LinkMoment(terms, pair, kept);
      Unrolled<kLinkKept>([&](int k) { Store(kept[k], kept_to[k] + at); });
      Store(Load<T>(inputs.rho_kernel.data() + at) * link + p_.delta * Load<T>(inputs.delta_kernel.data() + at) +
                rho2 * pair.c,
            pairs_.data() + at);
    });
  });
  diagonal_ = LinkDiagonal(p_, m, v, 0);
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
  const double rho2 = p_.rho * p_.rho;
  const auto terms = std::as_const(p_.terms).All();
  std::array<const double*, kLinkKept> kept_from;
  for (size_t k = 0; k < kept_.size(); ++k) kept_from[k] = kept_[k].data();
  c_bar.resize(c.size());
  m_bar.setZero(n);
  v_bar.setZero(n);
  ReverseLinkDiagonal(p_, m, v, diagonal_bar, m_bar, v_bar);
  LaneSum sums[kLinkParameters], delta, rho;
  ForPairColumns(n, [&](Index j, Index first) {
    LaneSum m_sum, v_sum;
    ForEachLane(j + 1, n, [&]<typename T>(Index i) {
      const Index at = first + i;
      const T bar = Load<T>(pairs_bar.data() + at);
      const LinkPair<T> pair(Load<T>(m.data() + i), m[j], Load<T>(v.data() + i), v[j], Load<T>(c.data() + at));
      T kept[kLinkKept];
      Unrolled<kLinkKept>([&](int k) { kept[k] = Load<T>(kept_from[k] + at); });
      LinkPairAdjoints<T> to;
      const T link_bar = bar * Load<T>(inputs.rho_kernel.data() + at);
      const T link = ReverseLinkMoment(terms, pair, kept, link_bar, to, sums);
      delta += bar * Load<T>(inputs.delta_kernel.data() + at);
      rho += bar * pair.c;
      Store(to.product + rho2 * bar - 2.0 * to.spread + to.c, c_bar.data() + at);
      Store(Load<T>(rho_kernel_bar.data() + at) + bar * link, rho_kernel_bar.data() + at);
      Store(Load<T>(delta_kernel_bar.data() + at) + p_.delta * bar, delta_kernel_bar.data() + at);
      Store(Load<T>(m_bar.data() + i) + to.difference + to.product * m[j] + to.m, m_bar.data() + i);
      Store(Load<T>(v_bar.data() + i) + to.spread + to.v, v_bar.data() + i);
      m_sum += to.product * pair.m - to.difference + to.other_m;
      v_sum += to.spread + to.other_v;
    });
    m_bar[j] += m_sum.Total();
    v_bar[j] += v_sum.Total();
  });
  std::array<double, kLinkParameters> totals;
  for (int k = 0; k < kLinkParameters; ++k) totals[k] = sums[k].Total();
  ForEachTerm(terms, [&]<int parameter, int>(const auto& term) {
    term.AddGradient(totals.data() + parameter, m, v, diagonal_bar, scalars_bar.terms.data() + parameter);
  });
  const auto d_bar = diagonal_bar.array();
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
  const double rho2 = p.rho * p.rho;
  const auto terms = p.terms.All();
  k.resize(n, c.cols());
  for (Index j = 0; j < c.cols(); ++j) {
    const double m_j = query_m[j], v_j = query_v[j];
    const double* const c_column = c.col(j).data();
    const double* const rho_column = rho_kernel.col(j).data();
    const double* const delta_column = delta_kernel.col(j).data();
    double* const k_column = k.col(j).data();
    ForEachLaneOverlapping(n, [&]<typename T>(Index i) {
      const LinkPair<T> pair(Load<T>(m.data() + i), m_j, Load<T>(v.data() + i), v_j, Load<T>(c_column + i));
      T kept[kLinkKept];
      const T link = LinkMoment(terms, pair, kept);
      Store(Load<T>(rho_column + i) * link + p.delta * Load<T>(delta_column + i) + rho2 * pair.c, k_column + i);
    });
  }
  if (p.trend > 0) k += p.trend * trend;
}

void ReverseCrossLinkKernel(const LinkScalars& p, const Matrix& rho_kernel, const Vector& m, const Vector& v,
                            const Vector& query_m, const Vector& query_v, const Matrix& c, const Matrix& k_bar,
                            Matrix& rho_bar, Matrix& c_bar, Vector& query_m_bar, Vector& query_v_bar) {
  const double rho2 = p.rho * p.rho;
  const auto terms = p.terms.All();
  rho_bar.resize(c.rows(), c.cols());
  c_bar.resize(c.rows(), c.cols());
  for (Index j = 0; j < c.cols(); ++j) {
    const double m_j = query_m[j], v_j = query_v[j];
    const double* const c_column = c.col(j).data();
    const double* const rho_column = rho_kernel.col(j).data();
    const double* const bar_column = k_bar.col(j).data();
    double* const rho_to = rho_bar.col(j).data();
    double* const c_to = c_bar.col(j).data();
    LaneSum m_sum, v_sum;
    ForEachLane(0, c.rows(), [&]<typename T>(Index i) {
      const T bar = Load<T>(bar_column + i);
      const LinkPair<T> pair(Load<T>(m.data() + i), m_j, Load<T>(v.data() + i), v_j, Load<T>(c_column + i));
      T kept[kLinkKept];
      const T link = LinkMoment(terms, pair, kept);
      LinkPairAdjoints<T> to;
      const T link_bar = bar * Load<T>(rho_column + i);
      NoSum none[kLinkParameters];
      ReverseLinkMoment(terms, pair, kept, link_bar, to, none);
      Store(bar * link, rho_to + i);
      Store(to.product + rho2 * bar - 2.0 * to.spread + to.c, c_to + i);
      m_sum += to.product * pair.m - to.difference + to.other_m;
      v_sum += to.spread + to.other_v;
    });
    query_m_bar[j] += m_sum.Total();
    query_v_bar[j] += v_sum.Total();
  }
}

Vector LinkDiagonal(const LinkScalars& p, const Vector& m, const Vector& v, double constant) {
  const auto terms = p.terms.All();
  const double rho2 = p.rho * p.rho, constants = ConstantOf(p) + p.delta + constant;
  Vector diagonal(m.size());
  ForEachLane(0, m.size(), [&]<typename T>(Index i) {
    Store(LinkDiagonalAt(terms, rho2, constants, Load<T>(m.data() + i), Load<T>(v.data() + i)), diagonal.data() + i);
  });
  return diagonal;
}

void ReverseLinkDiagonal(const LinkScalars& p, const Vector& m, const Vector& v, const ConstVectorRef& bar,
                         Vector& m_bar, Vector& v_bar) {
  const auto terms = p.terms.All();
  const double rho2 = p.rho * p.rho;
  ForEachLane(0, m.size(), [&]<typename T>(Index i) {
    const T at = Load<T>(bar.data() + i), m_i = Load<T>(m.data() + i), v_i = Load<T>(v.data() + i);
    T m_part = -T{}, v_slope = -T{};
    ForEachTerm(terms, [&]<int, int>(const auto& term) { term.ReverseDiagonal(m_i, v_i, at, m_part, v_slope); });
    Store(Load<T>(m_bar.data() + i) + m_part, m_bar.data() + i);
    Store(Load<T>(v_bar.data() + i) + (v_slope + rho2) * at, v_bar.data() + i);
  });
}

}  // namespace fidelio
