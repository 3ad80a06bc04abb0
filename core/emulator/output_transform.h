// OutputTransform: a monotone map z = g(y) from bounded outputs to the real line, where a Gaussian model fits better.
//
//   log     z = log(y − lower),                     y > lower
//   logit   z = log((y − lower)/(upper − y)),       lower < y < upper
//
// Outputs exactly at a bound, where z would be infinite, are moved inside by a gap: half the distance from the bound to the
// nearest observation, of any level, that is not at it. TransformOutputs finds the gaps. Immutable after that; safe to share.
#ifndef FIDELIO_CORE_EMULATOR_OUTPUT_TRANSFORM_H_
#define FIDELIO_CORE_EMULATOR_OUTPUT_TRANSFORM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/data/dataset.h"

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
  double lower_gap = 0, upper_gap = 0;  // ≥ 0; values nearer to a bound count as this far from it

  double Forward(double y) const;   // finite for every y within the bounds, once the gaps are known
  double Slope(double y) const;     // g'(y) > 0
  double Backward(double z) const;  // h = g⁻¹; always finite

  // Moments of h(z), by exact formulas (log) or by quadrature to about 1e-9 of upper − lower (logit).
  TransformedMoments Moments(double mean, double variance) const;

  // The data of a model of z, with the gaps of this transform. Known noise variances are multiplied by g'(y)².
  // INVALID_ARGUMENT for outputs outside the bounds.
  absl::StatusOr<Dataset> Apply(Dataset data) const;

  // OK, or INVALID_ARGUMENT when y is not finite or outside the bounds; the message calls it `name`.
  absl::Status Check(double y, const std::string& name) const;
};

// As in core/base/bytes.h.
template <typename Bytes>
void Fields(Bytes& bytes, OutputTransform& transform) {
  bytes(transform.kind, transform.lower, transform.upper, transform.lower_gap, transform.upper_gap);
}

struct TransformedData {
  OutputTransform transform;  // with its gaps
  Dataset data;
};

// Finds the gaps and applies the transform. INVALID_ARGUMENT for outputs outside the bounds, invalid bounds, or outputs that
// all lie at a bound.
FIDELIO_EXPORT absl::StatusOr<TransformedData> TransformOutputs(const Dataset& data, const OutputTransform& transform);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_OUTPUT_TRANSFORM_H_
