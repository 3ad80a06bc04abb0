#include "core/kernel/quadratic_path.h"

#include <cmath>

namespace fidelio {

QuadraticPath::QuadraticPath(int dimension, double curvature, Random& random)
    : linear_(random.NormalVector(dimension)), quadratic_(dimension, dimension) {
  for (double& element : quadratic_.reshaped()) element = std::sqrt(curvature) * random.Normal();
}

Vector QuadraticPath::Evaluate(const Matrix& z) const {
  return z * linear_ + (z * quadratic_).cwiseProduct(z).rowwise().sum();
}

}  // namespace fidelio
