#include "core/emulator/bounded_moments.h"

#include <algorithm>
#include <cmath>

#include "core/base/normal.h"

namespace fidelio {
namespace {

constexpr double kReachOfNormal = 8.5;      // Φ(−8.5) is 1e-17
constexpr double kLargestVariance = 1e260;  // finite, as all of OutputTransform

double BellAt(double u) { return 0.39894228040143267794 * std::exp(-0.5 * u * u); }

// e^{t²/2} Φ(−t).
double ScaledNormalTail(double t) {
  if (t < 25) return std::exp(0.5 * t * t) * NormalCdf(-t);
  const double r = 1 / (t * t);  // the asymptotic series, to 1e-14
  return 0.39894228040143267794 / t * (1 - r * (1 - 3 * r * (1 - 5 * r * (1 - 7 * r))));
}

// ∫_{−∞}^c e^{kz} N(z; m, s²) dz = e^{km + k²s²/2} Φ(γ − ks) with γ = (c − m)/s. Where ks > γ, the first factor may overflow:
// with t = ks − γ, it is e^{kc − γ²/2} e^{t²/2} Φ(−t).
double ExponentialBelow(double k, double c, double mean, double sd) {
  const double gamma = (c - mean) / sd, t = k * sd - gamma;
  if (t <= 0) return std::exp(k * mean + 0.5 * k * k * sd * sd) * NormalCdf(-t);
  return std::exp(k * c - 0.5 * gamma * gamma) * ScaledNormalTail(t);
}

// h = e^z, relative to e^{range.upper}: nothing overflows.
BoundedTransformMoments BoundedExponential(double mean, double sd, double a, double b) {
  const double alpha = (a - mean) / sd, beta = (b - mean) / sd;
  const double at_a = std::exp(a - b), below = NormalCdf(alpha), above = NormalCdf(-beta);
  mean -= b;
  const auto within = [&](double k) { return ExponentialBelow(k, 0, mean, sd) - ExponentialBelow(k, a - b, mean, sd); };
  const double first = within(1);
  BoundedTransformMoments result;
  result.moments.mean = at_a * below + first + above;
  result.moments.variance =
      std::max(0.0, at_a * at_a * below + within(2) + above - result.moments.mean * result.moments.mean);
  result.moments.mean_bar = first;
  result.moments.variance_bar = 0.5 * (first + (at_a * BellAt(alpha) - BellAt(beta)) / sd);
  result.lower_bar = at_a * below;
  result.upper_bar = above;
  return result;
}

double Logistic(double z) { return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }

// h = the sigmoid. Panels of at most 2 in z and in standard deviations: its poles are π away from the real axis.
BoundedTransformMoments BoundedSigmoid(double mean, double sd, double a, double b) {
  constexpr double kNode[] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                              0.9739065285171717};
  constexpr double kWeight[] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159820, 0.1494513491505806,
                                0.0666713443086881};
  const double alpha = (a - mean) / sd, beta = (b - mean) / sd;
  const double from = std::max(alpha, -kReachOfNormal), to = std::min(beta, kReachOfNormal);
  const double at_a = Logistic(a), at_b = Logistic(b), below = NormalCdf(alpha), above = NormalCdf(-beta);
  double first = at_a * below + at_b * above, slope = 0, curvature = 0;
  const auto integrate = [&](const auto& add) {
    if (!(from < to)) return;
    const int panels = static_cast<int>(std::ceil((to - from) * std::max(1.0, sd) / 2));
    const double half = (to - from) / panels / 2;
    for (int i = 0; i < panels; ++i) {
      const double middle = from + (2 * i + 1) * half;
      for (int j = 0; j < 5; ++j) {
        for (const double u : {middle - half * kNode[j], middle + half * kNode[j]}) {
          add(half * kWeight[j] * BellAt(u), mean + sd * u);
        }
      }
    }
  };
  integrate([&](double weight, double z) {
    const double s = Logistic(z), t = Logistic(-z);
    first += weight * s;
    slope += weight * s * t;
    curvature += weight * s * t * (t - s);
  });
  const double slope_a = at_a * Logistic(-a), slope_b = at_b * Logistic(-b);
  BoundedTransformMoments result;
  result.moments.mean = first;
  const auto square = [](double x) { return x * x; };
  result.moments.variance = square(at_a - first) * below + square(at_b - first) * above;
  integrate([&](double weight, double z) { result.moments.variance += weight * square(Logistic(z) - first); });
  result.moments.mean_bar = slope;
  result.moments.variance_bar = 0.5 * (curvature + (slope_a * BellAt(alpha) - slope_b * BellAt(beta)) / sd);
  result.lower_bar = slope_a * below;
  result.upper_bar = slope_b * above;
  return result;
}

}  // namespace

BoundedTransformMoments BoundedMoments(const OutputTransform& transform, double mean, double variance,
                                       const ZRange& range) {
  const double sd = std::sqrt(variance);
  // e^{2z} N(z; m, s²) is a Gaussian about m + 2s².
  const bool log = transform.kind == OutputTransform::Kind::kLog;
  if (mean - kReachOfNormal * sd >= range.lower &&
      mean + (log ? 2 * variance : 0) + kReachOfNormal * sd <= range.upper) {
    return {.moments = transform.Moments(mean, variance)};
  }
  BoundedTransformMoments result =
      log ? BoundedExponential(mean, sd, range.lower, range.upper) : BoundedSigmoid(mean, sd, range.lower, range.upper);
  const double unit = log ? transform.Backward(range.upper) - transform.lower : transform.upper - transform.lower;
  result.moments.mean = transform.lower + unit * result.moments.mean;
  const double spread = unit * std::sqrt(result.moments.variance);
  result.moments.variance = std::min(spread * spread, kLargestVariance);
  result.moments.mean_bar *= unit;
  result.moments.variance_bar *= unit;
  result.lower_bar *= unit;
  result.upper_bar *= unit;
  return result;
}

}  // namespace fidelio
