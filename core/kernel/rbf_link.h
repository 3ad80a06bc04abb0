// RbfLink: the term h(f, f') = vf·exp(−(f−f')² / 2l²) of a link (link_terms.h has the contract).
//
//   E h(f, f') = vf·√(l²/(l²+S))·exp(−(m−m')² / 2(l²+S)),   S = Var(f − f')
//
// θ: log vf, log l. Limits: vf = 0 is no term; S = 0 is the kernel itself at f = m; l → ∞ is the constant vf.
#ifndef FIDELIO_CORE_KERNEL_RBF_LINK_H_
#define FIDELIO_CORE_KERNEL_RBF_LINK_H_

#include <array>
#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "core/kernel/link_pair.h"
#include "core/kernel/link_parameter.h"
#include "core/kernel/spectral_path.h"
#include "core/linalg/lanes.h"

namespace fidelio {

struct RbfLink {
  static constexpr int kKept = 2;  // 1/(l²+S), E h
  static std::array<LinkParameter, 2> Parameters() {
    return {{{"vf", Prior::Normal(std::log(1e-2), 2.2)}, {"lf", Prior::Normal(0, 0.7)}}};
  }
  static RbfLink At(const double* theta) {
    return {.variance = std::exp(theta[0]), .lengthscale2 = std::exp(2 * theta[1])};
  }

  double variance = 0, lengthscale2 = 1;  // vf, l²

  double operator()(double f, double other) const {
    return variance * std::exp(-(f - other) * (f - other) / (2 * lengthscale2));
  }

  template <typename T>
  T Moment(const LinkPair<T>& at, T* kept) const {
    kept[0] = 1.0 / (lengthscale2 + at.spread);
    kept[1] = variance * Sqrt(lengthscale2 * kept[0]) * ExpOfNegative(-0.5 * at.difference * at.difference * kept[0]);
    return kept[1];
  }
  template <typename T>
  T Kept(const LinkPair<T>&, const T* kept) const {
    return kept[1];
  }
  // log E h = const + ½ log q − ½ δ² q with q = 1/(l²+S), δ = m − m': ∂/∂S = −½ q + ½ δ² q².
  template <typename T, typename Sum>
  void Reverse(const LinkPair<T>& at, const T* kept, const T& bar, LinkPairAdjoints<T>& to, Sum* theta_sums) const {
    const T q = kept[0], log_bar = bar * kept[1], excess = at.difference * at.difference * q - 1.0;
    to.spread += at.spread > 0.0 ? 0.5 * q * log_bar * excess : T{};
    to.difference += -log_bar * at.difference * q;
    theta_sums[0] += log_bar;
    theta_sums[1] += log_bar * (1.0 + lengthscale2 * q * excess);
  }

  double constant() const { return variance; }
  template <typename T>
  T Diagonal(const T&, const T&) const {
    return -T{};
  }
  template <typename T>
  void ReverseDiagonal(const T&, const T&, const T&, T&, T&) const {}
  void AddGradient(const double* theta_sums, const ConstVectorRef&, const ConstVectorRef&,
                   const ConstVectorRef& diagonal_bar, double* theta_bar) const {
    theta_bar[0] += theta_sums[0] + variance * diagonal_bar.sum();
    theta_bar[1] += theta_sums[1];
  }

  // A function of x and f with the kernel κ_ρ·h.
  class Path {
   public:
    Path(const SpectralFactor& over_x, int waves, Random& random)
        : wave_(std::vector{over_x, SpectralFactor{}}, waves, random) {}
    void AddTo(const RbfLink& link, const Matrix& x, const ConstVectorRef& f, Vector& sum) const {
      Matrix joint(x.rows(), x.cols() + 1);
      joint << x, f / std::sqrt(link.lengthscale2);
      sum += std::sqrt(link.variance) * wave_.Evaluate(joint);
    }

   private:
    SpectralPath wave_;
  };
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_RBF_LINK_H_
