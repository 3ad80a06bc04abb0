// Moments of y = h(z'), z ~ N(m, s²), with z' = z cut off at the ends of a range [a, b] (core/emulator/supported_range.h):
//
//   E[y^k] = h(a)^k Φ(α) + ∫_a^b h(z)^k N(z; m, s²) dz + h(b)^k Φ(−β),   α = (a − m)/s,   β = (b − m)/s
//   ∂E[y]/∂m = ∫_a^b h' N dz          ∂E[y]/∂a = h'(a) Φ(α)          ∂E[y]/∂b = h'(b) Φ(−β)
//   ∂E[y]/∂s² = ½ (∫_a^b h'' N dz + h'(a) N(a) − h'(b) N(b))
//
// The integrals are exact for log and by Gauss–Legendre quadrature, to about 1e-12 of upper − lower, for logit. Where [a, b]
// holds all but about 1e-17 of every integral, these are OutputTransform::Moments. Free functions: safe from every thread.
#ifndef FIDELIO_CORE_EMULATOR_BOUNDED_MOMENTS_H_
#define FIDELIO_CORE_EMULATOR_BOUNDED_MOMENTS_H_

#include "core/base/export.h"
#include "core/emulator/output_transform.h"
#include "core/emulator/supported_range.h"

namespace fidelio {

struct BoundedTransformMoments {
  TransformedMoments moments;
  double lower_bar = 0, upper_bar = 0;  // ∂E[y]/∂a and ∂E[y]/∂b
};

// Requires a finite range and variance > 0.
FIDELIO_EXPORT BoundedTransformMoments BoundedMoments(const OutputTransform& transform, double mean, double variance,
                                                      const ZRange& range);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_BOUNDED_MOMENTS_H_
