#include "core/kernel/spectral_path.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/types/span.h"
#include "core/linalg/lanes.h"

namespace fidelio {
namespace {

using Eigen::Index;

// cos(2πu) to about 1e-15 for |u| < 2⁵⁰, by 1 − 2 sin²(πr) with r = u less the nearest integer.
template <typename T>
T CosineOfTurns(const T& u) {
  constexpr double kRound = 0x1.8p52;  // u + kRound has no fraction
  const T r = u - ((u + kRound) - kRound), x = r * std::numbers::pi, z = x * x;
  // The series of sin x to x²¹, |x| ≤ π/2: the next term is 2e-18. In pairs of pairs, for speed.
  const T z2 = z * z, z4 = z2 * z2;
  const T first = (1.0 - z * (1.0 / 6)) + z2 * (1.0 / 120 - z * (1.0 / 5040));
  const T second = (1.0 / 362880 - z * (1.0 / 39916800)) + z2 * (1.0 / 6227020800.0 - z * (1.0 / 1307674368000.0));
  const T third = (1.0 / 355687428096000.0 - z * (1.0 / 121645100408832000.0)) + z2 * (1.0 / 51090942171709440000.0);
  const T sine = x * (first + z4 * (second + z4 * third));
  return 1.0 - 2.0 * sine * sine;
}

// Degrees of freedom of the spectral measure; 0: normal.
int SpectralDegrees(KernelFamily family) {
  switch (family) {
    case KernelFamily::kRbf:
      return 0;
    case KernelFamily::kMatern12:
      return 1;
    case KernelFamily::kMatern32:
      return 3;
    case KernelFamily::kMatern52:
      return 5;
  }
  return 0;
}

// What the measure of a factor is stretched by, and which part of the waves has it. What is left of a normal tail
// beyond a few times its width matters to no one; that of Student's t does.
struct Stretch {
  double by, part;
};
absl::Span<const Stretch> StretchesOf(KernelFamily family) {
  static constexpr Stretch kNormal[] = {{1, 0.5}, {1.5, 0.2}, {2.2, 0.15}, {3.3, 0.15}};
  static constexpr Stretch kStudent[] = {{1, 0.5}, {2, 0.15}, {4, 0.15}, {12, 0.1}, {40, 0.1}};
  if (SpectralDegrees(family) == 0) return kNormal;
  return kStudent;
}

// log(p stretched / p) at a frequency of one factor of the kernel; `squared`: |w|².
double LogRatio(const SpectralFactor& factor, double squared, double stretch) {
  const double d = factor.dimensions, shrunk = squared / (stretch * stretch);
  const double nu = SpectralDegrees(factor.family);
  const double change = nu == 0 ? 0.5 * (shrunk - squared) : 0.5 * (nu + d) * std::log((nu + shrunk) / (nu + squared));
  return -d * std::log(stretch) - change;
}

}  // namespace

SpectralPath::SpectralPath(const std::vector<SpectralFactor>& factors, int waves, Random& random) {
  Index dimensions = 0;
  for (const SpectralFactor& factor : factors) dimensions += factor.dimensions;
  frequency_.resize(dimensions, waves);
  phase_.resize(waves);
  amplitude_.resize(waves);
  for (int j = 0; j < waves; ++j) {
    double q_to_p = 1;
    Index at = 0;
    for (const SpectralFactor& factor : factors) {
      const absl::Span<const Stretch> stretches = StretchesOf(factor.family);
      double below = 0, at_random = random.Uniform();
      const auto stretch = std::find_if(stretches.begin(), stretches.end() - 1,
                                        [&](const Stretch& s) { return at_random < (below += s.part); });
      auto w = frequency_.col(j).segment(at, factor.dimensions);
      w = stretch->by * random.NormalVector(factor.dimensions);
      if (const int degrees = SpectralDegrees(factor.family); degrees > 0) {
        w *= std::sqrt(degrees / random.NormalVector(degrees).squaredNorm());
      }
      double ratio = 0;
      for (const Stretch& s : stretches) ratio += s.part * std::exp(LogRatio(factor, w.squaredNorm(), s.by));
      q_to_p *= ratio;
      at += factor.dimensions;
    }
    phase_[j] = random.Uniform();
    amplitude_[j] = std::sqrt(-2 * std::log(random.Uniform()) / (waves * q_to_p));
  }
  frequency_ /= 2 * std::numbers::pi;
}

Vector SpectralPath::Evaluate(const ConstMatrixRef& a) const {
  const Index n = a.rows(), dimensions = frequency_.rows(), stride = a.outerStride();
  Vector result = Vector::Zero(n);
  for (Index j = 0; j < phase_.size(); ++j) {
    const double* const w = frequency_.col(j).data();
    const double phase = phase_[j], amplitude = amplitude_[j];
    ForEachLane(0, n, [&]<typename T>(Index i) {
      T turns = T{} + phase;
      for (Index d = 0; d < dimensions; ++d) turns += Load<T>(a.data() + d * stride + i) * w[d];
      Store(Load<T>(result.data() + i) + amplitude * CosineOfTurns(turns), result.data() + i);
    });
  }
  return result;
}

}  // namespace fidelio
