// Lanes: the doubles of one vector register, for loops that the compiler would not vectorise by itself (sums, and
// functions of libm). A body is written once, for T = Lanes and for T = double; the latter does what is left over.
//
// Its contents depend on the instruction set: include it in sources, and in headers of templates that only sources of core
// and their tests instantiate.
#ifndef FIDELIO_CORE_LINALG_LANES_H_
#define FIDELIO_CORE_LINALG_LANES_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/base/types.h"

namespace fidelio {

#if defined(__AVX512F__)
inline constexpr int kLanes = 8;
#elif defined(__AVX__)
inline constexpr int kLanes = 4;
#else
inline constexpr int kLanes = 2;
#endif
using Lanes __attribute__((vector_size(kLanes * sizeof(double)))) = double;
using LaneBits __attribute__((vector_size(kLanes * sizeof(int64_t)))) = int64_t;

// Anywhere in an array of doubles. To the compiler they are accesses to doubles (as through memcpy they would not be),
// so that it need not read pointers and strides again after a Store.
template <typename T>
inline T Load(const double* from) {
  using Doubles __attribute__((vector_size(sizeof(T)), aligned(alignof(double)))) = double;
  if constexpr (std::is_same_v<T, double>) {
    return *from;
  } else {
    return *reinterpret_cast<const Doubles*>(from);
  }
}

template <typename T>
inline void Store(const T& x, double* to) {
  using Doubles __attribute__((vector_size(sizeof(T)), aligned(alignof(double)))) = double;
  if constexpr (std::is_same_v<T, double>) {
    *to = x;
  } else {
    *reinterpret_cast<Doubles*>(to) = x;
  }
}

// body<T>(i) for the doubles [begin, end): by Lanes, then one by one.
template <typename Body>
inline void ForEachLane(Eigen::Index begin, Eigen::Index end, const Body& body) {
  Eigen::Index i = begin;
  for (; i + kLanes <= end; i += kLanes) body.template operator()<Lanes>(i);
  for (; i < end; ++i) body.template operator()<double>(i);
}

// The same for a body that may be run twice for an i: what is left over is done by Lanes too, with those before it.
template <typename Body>
inline void ForEachLaneOverlapping(Eigen::Index end, const Body& body) {
  if (end < kLanes) {
    for (Eigen::Index i = 0; i < end; ++i) body.template operator()<double>(i);
    return;
  }
  for (Eigen::Index i = 0; i + kLanes <= end; i += kLanes) body.template operator()<Lanes>(i);
  if (end % kLanes != 0) body.template operator()<Lanes>(end - kLanes);
}

// body(0), …, body(count − 1), without a loop: arrays that it indexes can stay in registers.
template <int count, typename Body>
inline void Unrolled(const Body& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (body(i), ...); }
  (std::make_integer_sequence<int, count>());
}

struct LaneSum {
  Lanes lanes = {};
  double rest = 0;

  void operator+=(const Lanes& x) { lanes += x; }
  void operator+=(double x) { rest += x; }
  double Total() const {
    double total = rest;
    for (int i = 0; i < kLanes; ++i) total += lanes[i];
    return total;
  }
};

inline double Sqrt(double x) { return std::sqrt(x); }
inline Lanes Sqrt(const Lanes& x) {
  Eigen::Array<double, kLanes, 1> y;
  Store(x, y.data());
  y = y.sqrt();
  return Load<Lanes>(y.data());
}

// e^x to about an ulp for x ≤ 0; 0 below −708. NaN stays NaN.
template <typename T>
inline T ExpOfNegative(const T& x) {
  using Bits = std::conditional_t<std::is_same_v<T, double>, int64_t, LaneBits>;
  constexpr double kLowest = -708, kRound = 0x1.8p52;  // x + kRound has the rounded x in its last bits
  const T bounded = x < kLowest ? T{} + kLowest : x;
  const T shifted = bounded * 1.4426950408889634 + kRound;
  const T n = shifted - kRound;
  const T r = (bounded - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;  // bounded − n log 2, in two parts
  // The series to r¹³, |r| ≤ ½ log 2: the next term is 4e-18. In pairs of pairs, for speed.
  const T r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const T low = (1.0 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
  const T second = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
  const T third = (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800));
  const T last = 1.0 / 479001600 + r * (1.0 / 6227020800);
  const T power = low + r4 * second + r8 * (third + r4 * last);
  const T value = std::bit_cast<T>(std::bit_cast<Bits>(power) + (std::bit_cast<Bits>(shifted) << 52));
  return x < kLowest ? T{} : value;
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_LANES_H_
