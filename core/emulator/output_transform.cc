#include "core/emulator/output_transform.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"

namespace fidelio {
namespace {

using Eigen::Index;
using Kind = OutputTransform::Kind;

// Finite: beyond any number that a model could mean, it stays at e^600.
constexpr double kLargestLog = 600;
double Exp(double x) { return std::exp(std::min(x, kLargestLog)); }

double Sigmoid(double z) { return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }

// E[y] = e^{m+v/2}, Var[y] = E[y]² (e^v − 1).
TransformedMoments LogMoments(double mean, double variance) {
  const double first = Exp(mean + 0.5 * variance);
  const double log_spread = std::log(std::expm1(std::min(variance, kLargestLog)));
  return {
      .mean = first, .variance = Exp(2 * mean + variance + log_spread), .mean_bar = first, .variance_bar = 0.5 * first};
}

// The trapezoidal rule over ±kReach standard deviations. The sigmoid is analytic within π of the real axis, so that steps of
// at most kStep in z (and in standard deviations) leave errors of e^{−2π²/kStep}.
TransformedMoments SigmoidMoments(double mean, double variance) {
  constexpr double kReach = 8, kStep = 0.75;
  constexpr int kMostNodes = 2000;
  const double sd = std::sqrt(variance);
  const int half = static_cast<int>(std::clamp(std::ceil(kReach * std::max(sd, 1.0) / kStep), 1.0, 0.5 * kMostNodes));
  const double step = kReach / half;
  double total = 0, first = 0, slope = 0, curvature = 0;
  for (int i = -half; i <= half; ++i) {
    const double u = i * step, weight = std::exp(-0.5 * u * u), s = Sigmoid(mean + sd * u), t = Sigmoid(-mean - sd * u);
    total += weight;
    first += weight * s;
    slope += weight * s * t;
    curvature += weight * s * t * (t - s);
  }
  TransformedMoments result{
      .mean = first / total, .variance = 0, .mean_bar = slope / total, .variance_bar = 0.5 * curvature / total};
  // As a sum of squares: near a border, E[y²] − E[y]² would lose all digits.
  for (int i = -half; i <= half; ++i) {
    const double u = i * step, difference = Sigmoid(mean + sd * u) - result.mean;
    result.variance += std::exp(-0.5 * u * u) * difference * difference;
  }
  result.variance /= total;
  return result;
}

}  // namespace

absl::Status OutputTransform::Check(double y, const std::string& name) const {
  const bool inside = y >= lower && (kind == Kind::kLog || y <= upper);
  if (std::isfinite(y) && inside) return absl::OkStatus();
  return absl::InvalidArgumentError(
      kind == Kind::kLog ? absl::StrFormat("%s: %g, want at least %g under the log transform", name, y, lower)
                         : absl::StrFormat("%s: %g, want %g to %g under the logit transform", name, y, lower, upper));
}

double OutputTransform::Forward(double y) const {
  const double low = std::max(y - lower, lower_gap);
  if (kind == Kind::kLog) return std::log(low);
  return std::log(low / std::max(upper - y, upper_gap));
}

double OutputTransform::Slope(double y) const {
  const double low = std::max(y - lower, lower_gap);
  if (kind == Kind::kLog) return 1 / low;
  return 1 / low + 1 / std::max(upper - y, upper_gap);
}

double OutputTransform::Backward(double z) const {
  if (kind == Kind::kLog) return lower + Exp(z);
  return z < 0 ? lower + (upper - lower) * Sigmoid(z) : upper - (upper - lower) * Sigmoid(-z);
}

TransformedMoments OutputTransform::Moments(double mean, double variance) const {
  if (kind == Kind::kLog) {
    TransformedMoments result = LogMoments(mean, variance);
    result.mean += lower;
    return result;
  }
  const double width = upper - lower;
  TransformedMoments result = SigmoidMoments(mean, variance);
  result.mean = lower + width * result.mean;
  result.variance *= width * width;
  result.mean_bar *= width;
  result.variance_bar *= width;
  return result;
}

absl::StatusOr<Dataset> OutputTransform::Apply(Dataset data) const {
  for (size_t t = 0; t < data.levels.size(); ++t) {
    LevelData& level = data.levels[t];
    for (Index i = 0; i < level.y.size(); ++i) {
      FIDELIO_RETURN_IF_ERROR(Check(level.y[i], absl::StrFormat("levels[%d].y[%d]", t, i)));
      const double slope = Slope(level.y[i]);
      if (level.noise_variance.size() > 0) level.noise_variance[i] *= slope * slope;
      level.y[i] = Forward(level.y[i]);
    }
  }
  return data;
}

absl::StatusOr<TransformedData> TransformOutputs(const Dataset& data, const OutputTransform& transform) {
  TransformedData result{.transform = transform, .data = data};
  OutputTransform& own = result.transform;
  const bool two_sided = transform.kind == Kind::kLogit;
  if (!std::isfinite(transform.lower)) {
    return absl::InvalidArgumentError(absl::StrFormat("transform.lower: %g is not a finite number", transform.lower));
  }
  if (two_sided && !(std::isfinite(transform.upper) && transform.upper > transform.lower)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "transform.upper: %g, want a finite number above transform.lower, %g", transform.upper, transform.lower));
  }
  constexpr double kNone = std::numeric_limits<double>::infinity();
  own.lower_gap = own.upper_gap = kNone;
  for (size_t t = 0; t < data.levels.size(); ++t) {
    const Vector& y = data.levels[t].y;
    for (Index i = 0; i < y.size(); ++i) {
      FIDELIO_RETURN_IF_ERROR(own.Check(y[i], absl::StrFormat("levels[%d].y[%d]", t, i)));
      if (y[i] > own.lower) own.lower_gap = std::min(own.lower_gap, 0.5 * (y[i] - own.lower));
      if (two_sided && y[i] < own.upper) own.upper_gap = std::min(own.upper_gap, 0.5 * (own.upper - y[i]));
    }
  }
  if (own.lower_gap == kNone || (two_sided && own.upper_gap == kNone)) {
    return absl::InvalidArgumentError(
        "levels: all outputs lie at a bound of the transform, must have at least one inside");
  }
  if (!two_sided) own.upper_gap = 0;
  FIDELIO_ASSIGN_OR_RETURN(result.data, own.Apply(std::move(result.data)));
  return result;
}

}  // namespace fidelio
