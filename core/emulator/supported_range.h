// SupportedRange: where the moments of a transformed output count z = g(y) (core/emulator/output_transform.h).
//
// The mean of y = h(z) can come from values of z that nothing supports: with y = e^z and z ~ N(1, 5²), it is 7e5, and half of it
// comes from z > 26. Moments are therefore those of h(z') with z' = z, cut off at the ends of
//
//   lower = min(min z_i, median) − w        upper = max(max z_i, median) + w        w = max(1, ½ (max z_i − min z_i))
//
// z_i: the transformed observations of the level that is predicted, or of the nearest lower one if it has none. median: that of
// z at the input, so that a prediction outside the observations keeps its variance.
// Under log, w ≥ 1 is a factor of e. Limits: sd of z ≪ w ⇒ the moments of h(z).
#ifndef FIDELIO_CORE_EMULATOR_SUPPORTED_RANGE_H_
#define FIDELIO_CORE_EMULATOR_SUPPORTED_RANGE_H_

#include <vector>

#include "core/base/export.h"
#include "core/data/dataset.h"

namespace fidelio {

struct ZRange {
  double lower = 0, upper = 0;  // lower < upper
};

struct FIDELIO_EXPORT SupportedRange {
  double least = 0, most = 0;  // of the observations
  double margin = 1;           // w

  ZRange Around(double median) const;
};

// One per level. Level 0 has observations (core/data/dataset.h).
FIDELIO_EXPORT std::vector<SupportedRange> SupportedRanges(const Dataset& transformed);

}  // namespace fidelio

#endif  // FIDELIO_CORE_EMULATOR_SUPPORTED_RANGE_H_
