// The standard normal distribution.
#ifndef FIDELIO_CORE_BASE_NORMAL_H_
#define FIDELIO_CORE_BASE_NORMAL_H_

#include "core/base/export.h"

namespace fidelio {

inline constexpr double kLogTwoPi = 1.8378770664093454836;

FIDELIO_EXPORT double NormalCdf(double x);

// The inverse of NormalCdf on (0, 1): Wichura's AS 241, relative error about 1e-16.
FIDELIO_EXPORT double NormalQuantile(double p);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_NORMAL_H_
