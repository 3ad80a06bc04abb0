// LinearLink: the term h(f, f') = s2·f·f' of a link (link_terms.h has the contract).
//
//   E h(f, f') = s2·(m m' + c)
//
// θ: log s2. Limit: s2 = 0 is no term.
#ifndef FIDELIO_CORE_KERNEL_LINEAR_LINK_H_
#define FIDELIO_CORE_KERNEL_LINEAR_LINK_H_

#include <array>
#include <cmath>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/kernel/link_pair.h"
#include "core/kernel/link_parameter.h"
#include "core/kernel/spectral_path.h"

namespace fidelio {

struct LinearLink {
  static constexpr int kKept = 0;
  static std::array<LinkParameter, 1> Parameters() { return {{{"s2", Prior::Normal(std::log(1e-2), 2.2)}}}; }
  static LinearLink At(const double* theta) { return {.variance = std::exp(theta[0])}; }

  double variance = 0;  // s2

  double operator()(double f, double other) const { return variance * f * other; }

  template <typename T>
  T Moment(const LinkPair<T>& at, T*) const {
    return variance * at.product;
  }
  template <typename T>
  T Kept(const LinkPair<T>& at, const T*) const {
    return variance * at.product;
  }
  template <typename T, typename Sum>
  void Reverse(const LinkPair<T>& at, const T*, const T& bar, LinkPairAdjoints<T>& to, Sum* theta_sums) const {
    to.product += variance * bar;
    theta_sums[0] += bar * at.product;
  }

  double constant() const { return 0; }
  template <typename T>
  T Diagonal(const T& m, const T& v) const {
    return variance * (m * m + v);
  }
  template <typename T>
  void ReverseDiagonal(const T& m, const T&, const T& bar, T& m_bar, T& v_slope) const {
    m_bar += (2 * variance) * bar * m;
    v_slope += variance;
  }
  void AddGradient(const double* theta_sums, const ConstVectorRef& m, const ConstVectorRef& v,
                   const ConstVectorRef& diagonal_bar, double* theta_bar) const {
    theta_bar[0] += variance * (theta_sums[0] + (diagonal_bar.array() * (m.array().square() + v.array())).sum());
  }

  // f times a function with the kernel κ_ρ.
  class Path {
   public:
    Path(const SpectralFactor& over_x, int waves, Random& random) : slope_({over_x}, waves, random) {}
    void AddTo(const LinearLink& link, const Matrix& x, const ConstVectorRef& f, Vector& sum) const {
      sum += std::sqrt(link.variance) * slope_.Evaluate(x).cwiseProduct(f);
    }

   private:
    SpectralPath slope_;
  };
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_LINEAR_LINK_H_
