#include "core/linalg/secular_roots.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/linalg/lanes.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Σ z²/(d − λ) and its derivative over a range of terms, λ = origin + shift.
struct Terms {
  double sum, slope;
};

Terms SumTerms(const Vector& d, const Vector& z, Index begin, Index end, double origin, double shift) {
  LaneSum sum, slope;
  ForEachLane(begin, end, [&]<typename T>(Index i) {
    const T x = Load<T>(&z[i]), t = x / ((Load<T>(&d[i]) - origin) - shift);
    sum += T(x * t);
    slope += T(t * t);
  });
  return {sum.Total(), slope.Total()};
}

struct Root {
  double origin, shift;  // the root is origin + shift, and origin an element of d next to it
};

// The root above d[j]. The function rises from −∞ to its value at d[j+1] (or at the largest possible root).
Root FindRoot(const Vector& d, const Vector& z, Index j) {
  const Index k = d.size();
  const bool last = j == k - 1;
  const double gap = last ? z.squaredNorm() : d[j + 1] - d[j];
  double origin = d[j], low = 0, high = gap, shift = gap / 2;
  const auto below = [&] { return SumTerms(d, z, 0, j + 1, origin, shift); };
  const auto above = [&] { return SumTerms(d, z, j + 1, k, origin, shift); };
  Terms left = below(), right = above();
  if (!last) {
    if (1 + left.sum + right.sum < 0) {  // in the upper half: measured from the upper end, so that no digits cancel
      origin = d[j + 1];
      shift = low = -gap / 2;
      high = 0;
    } else {
      high = shift;
    }
  }
  for (int iteration = 0; iteration < 100; ++iteration) {
    const double value = 1 + left.sum + right.sum;
    if (std::abs(value) <= 8 * kEpsilon * (1 + std::abs(left.sum) + std::abs(right.sum))) break;
    (value < 0 ? low : high) = shift;
    // The root of a function with the same value and slopes, and poles at the ends of the interval.
    const double to_left = (d[j] - origin) - shift;
    double step;
    if (last) {
      const double constant = value - to_left * left.slope;
      step = to_left + to_left * to_left * left.slope / constant;
    } else {
      const double to_right = (d[j + 1] - origin) - shift;
      const double c = value - to_left * left.slope - to_right * right.slope;
      const double a = (to_left + to_right) * value - to_left * to_right * (left.slope + right.slope);
      const double b = to_left * to_right * value;
      const double root = std::sqrt(std::max(a * a - 4 * b * c, 0.0));
      step = a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
    }
    if (!(value * step < 0)) step = -value / (left.slope + right.slope);
    double next = shift + step;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next == shift || !(next > low && next < high)) break;  // neighbouring numbers
    shift = next;
    left = below();
    right = above();
  }
  return {origin, shift};
}

}  // namespace

SecularRoots SolveSecular(const Vector& d, const Vector& z, int threads) {
  constexpr Index kTogether = 64;
  const Index k = d.size();
  const int parts = static_cast<int>((k + kTogether - 1) / kTogether);
  const auto for_each = [&](const auto& body) {
    ParallelFor(parts, threads, [&](int part) {
      for (Index j = part * kTogether; j < std::min(k, (part + 1) * kTogether); ++j) body(j);
    });
  };
  SecularRoots roots{Vector(k), Matrix(k, k)};
  Matrix& vectors = roots.vectors;  // at first, d[i] − values[j], without cancellation
  for_each([&](Index j) {
    const Root root = FindRoot(d, z, j);
    roots.values[j] = root.origin + root.shift;
    vectors.col(j) = (d.array() - root.origin) - root.shift;
  });
  // The z for which these roots are exact (Löwner): with it, the vectors are orthogonal.
  Eigen::ArrayXd squares = -vectors.diagonal();
  for (Index j = 0; j < k; ++j) {
    const Index after = k - 1 - j;
    squares.head(j) *= vectors.col(j).head(j).array() / (d.head(j).array() - d[j]);
    squares.tail(after) *= vectors.col(j).tail(after).array() / (d.tail(after).array() - d[j]);
  }
  const Eigen::ArrayXd exact = squares.max(0).sqrt() * z.array().sign();
  for_each([&](Index j) {
    vectors.col(j) = exact / vectors.col(j).array();
    vectors.col(j).normalize();
  });
  return roots;
}

}  // namespace fidelio
