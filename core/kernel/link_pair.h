// LinkPair: f_{t−1} at two points, where it is Gaussian: what E h(f, f') of a term h of the link is a function of.
//
// The first point may be several at once: T is double, or the Lanes of several points.
#ifndef FIDELIO_CORE_KERNEL_LINK_PAIR_H_
#define FIDELIO_CORE_KERNEL_LINK_PAIR_H_

namespace fidelio {

template <typename T>
struct LinkPair {
  T m, v;                   // mean and variance at the first point
  double other_m, other_v;  // at the second
  T c;                      // covariance of the two
  T product;                // E f f' = m m' + c
  T difference;             // m − m'
  T spread;                 // Var(f − f') = v + v' − 2c, not below 0

  LinkPair(const T& mean, double other_mean, const T& variance, double other_variance, const T& covariance)
      : m(mean), v(variance), other_m(other_mean), other_v(other_variance), c(covariance) {
    product = m * other_m + c;
    difference = m - other_m;
    spread = v + other_v - 2.0 * c;
    spread = spread > 0.0 ? spread : T{};
  }
};

// Adjoints of such a pair, to which terms add: of its moments, and of what is computed from them. They begin with −0, which
// compilers drop from sums (they may not drop 0, since 0 + −0 is 0).
template <typename T>
struct LinkPairAdjoints {
  T m = -T{}, v = -T{}, other_m = -T{}, other_v = -T{}, c = -T{};
  T product = -T{}, difference = -T{}, spread = -T{};
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_KERNEL_LINK_PAIR_H_
