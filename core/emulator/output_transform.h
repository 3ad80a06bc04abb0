// OutputTransform: a monotone map z = g(y) from outputs with a border to the whole line, where a Gaussian model fits better.
//
//   log     z = log(y − lower),                     y > lower
//   logit   z = log((y − lower)/(upper − y)),       lower < y < upper
//
// Outputs exactly at a border, where z would be infinite, are moved inside, to half the distance of the nearest observation
// that is not at it (of all levels): the gaps, which TransformOutputs finds. Immutable after that; safe to share.
#ifndef FIDELIO_CORE_EMULATOR_OUTPUT_TRANSFORM_H_
#define FIDELIO_CORE_EMULATOR_OUTPUT_TRANSFORM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/emulator/dataset.h"

namespace fidelio {

// y = h(z) for z ~ N(mean, variance).
struct TransformedMoments {
  double mean = 0, variance = 0;
  double mean_bar = 0, variance_bar = 0;  // ∂E[y]/∂mean and ∂E[y]/∂variance of z
};

struct FIDELIO_EXPORT OutputTransform {
  enum class Kind { kLog = 1, kLogit = 2 };  // stored in checkpoints

  Kind kind = Kind::kLog;
  double lower = 0;
  double upper = 1;                     // of kLogit
  double lower_gap = 0, upper_gap = 0;  // ≥ 0; values nearer to a border count as this far

  double Forward(double y) const;   // finite for every y within the borders, once the gaps are found
  double Slope(double y) const;     // g'(y) > 0
  double Backward(double z) const;  // h = g⁻¹; always finite

  // Moments of h(z), by exact formulas (log) or by quadrature to about 1e-9 of the width of the borders (logit).
  TransformedMoments Moments(double mean, double variance) const;

  // The data that a model of z learns from, with the gaps of this. Given noise variances are multiplied by g'(y)².
  // INVALID_ARGUMENT for outputs outside the borders.
  absl::StatusOr<Dataset> Apply(Dataset data) const;

  // OK, or INVALID_ARGUMENT when y is not finite or not within the borders; `name` is y's in the message.
  absl::Status Check(double y, const std::string& name) const;
};

struct TransformedData {
  OutputTransform transform;  // with its gaps
  Dataset data;
};

// Finds the gaps, and applies the transform. INVALID_ARGUMENT for outputs outside the borders, impossible borders, or
// outputs that all lie at a border.
FIDELIO_EXPORT absl::StatusOr<TransformedData> TransformOutputs(const Dataset& data, const OutputTransform& transform);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_OUTPUT_TRANSFORM_H_
