#include "core/param/prior.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fidelio {

double Prior::NegativeLog(double x, double* slope) const {
  const double u = x - centre;
  switch (kind) {
    case Kind::kNormal: {
      const double z = u / scale;
      *slope += z / scale;
      return 0.5 * z * z;
    }
    case Kind::kStudent: {
      const double z = u / scale;
      *slope += (shape + 1) * z / (shape + z * z) / scale;
      return 0.5 * (shape + 1) * std::log1p(z * z / shape);
    }
    case Kind::kInverseGamma: {
      const double e = std::exp(std::clamp(-u, -50.0, 50.0));
      *slope += shape * (1 - e);
      return shape * (u + e);
    }
  }
  return 0;
}

double Prior::LogNormaliser() const {
  switch (kind) {
    case Kind::kNormal:
      return -0.5 * std::log(2 * std::numbers::pi);
    case Kind::kStudent:
      return std::lgamma(0.5 * (shape + 1)) - std::lgamma(0.5 * shape) - 0.5 * std::log(shape * std::numbers::pi);
    case Kind::kInverseGamma:
      return shape * std::log(shape) - std::lgamma(shape) + std::log(scale);
  }
  return 0;
}

}  // namespace fidelio
