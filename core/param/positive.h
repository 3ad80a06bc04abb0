// A positive quantity y as an unbounded parameter x: y = log(1 + e^x) + kLeastPositive (softplus).
//
// Near 0 a step of x multiplies y, above 1 it adds to y: steps of a fixed size neither overshoot large quantities nor
// crawl at small ones. The published MF-DGP was trained in this form (GPflow's), with the same least value.
#ifndef FIDELIO_CORE_PARAM_POSITIVE_H_
#define FIDELIO_CORE_PARAM_POSITIVE_H_

#include <algorithm>
#include <cmath>
#include <limits>

namespace fidelio {

inline constexpr double kLeastPositive = 1e-6;

inline double PositiveOf(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))) + kLeastPositive; }

// dy/dx.
inline double PositiveSlope(double x) { return 1 / (1 + std::exp(-x)); }

// The inverse. What is not above the least value counts as ε (machine precision) above it: x = −36.
inline double UnboundedOf(double y) {
  const double above = std::max(y - kLeastPositive, std::numeric_limits<double>::epsilon());
  return above + std::log(-std::expm1(-above));
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_PARAM_POSITIVE_H_
