#include "tests/bench/rank_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace fidelio::bench {

int RankHistogram::total() const { return std::accumulate(counts_.begin(), counts_.end(), 0); }

double RankHistogram::PValue() const {
  const double expected = static_cast<double>(total()) / static_cast<double>(counts_.size());
  if (expected == 0) return 1;
  double chi_square = 0;
  for (const int count : counts_) chi_square += (count - expected) * (count - expected) / expected;
  return ChiSquareTail(chi_square, static_cast<int>(counts_.size()) - 1);
}

std::string RankHistogram::Bars() const {
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double expected = std::max(1e-9, static_cast<double>(total()) / static_cast<double>(counts_.size()));
  std::string bars;
  for (const int count : counts_)
    bars += kBlocks[std::clamp(static_cast<int>(std::lround(4 * count / expected)), 0, 8)];
  return bars;
}

double ChiSquareTail(double x, int degrees) {
  if (!(x > 0)) return 1;
  constexpr double kEpsilon = 1e-15, kTiny = 1e-300;
  constexpr int kMost = 10000;
  const double a = 0.5 * degrees, z = 0.5 * x;
  const double front = std::exp(a * std::log(z) - z - std::lgamma(a));
  if (z < a + 1) {
    double term = 1 / a, sum = term;
    for (int k = 1; k < kMost && term > kEpsilon * sum; ++k) sum += term *= z / (a + k);
    return std::clamp(1 - front * sum, 0.0, 1.0);
  }
  // Lentz's algorithm.
  double b = z + 1 - a, c = 1 / kTiny, d = 1 / b, fraction = d;
  for (int k = 1; k < kMost; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    if (std::abs(d) < kTiny) d = kTiny;
    c = b + numerator / c;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    fraction *= d * c;
    if (std::abs(d * c - 1) < kEpsilon) break;
  }
  return std::clamp(front * fraction, 0.0, 1.0);
}

}  // namespace fidelio::bench
