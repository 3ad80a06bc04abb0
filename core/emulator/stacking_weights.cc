#include "core/emulator/stacking_weights.h"

#include <cmath>

namespace fidelio {

Vector StackingWeights(const Matrix& log_density) {
  constexpr int kSteps = 1000;
  constexpr double kStill = 1e-6;  // change of a weight that ends the climb
  const Eigen::Index models = log_density.rows();
  // Densities relative to the largest at each observation.
  const Eigen::RowVectorXd largest = log_density.colwise().maxCoeff();
  Matrix density = Matrix::Zero(models, log_density.cols());
  for (Eigen::Index i = 0; i < density.cols(); ++i) {
    if (std::isfinite(largest[i])) density.col(i) = (log_density.col(i).array() - largest[i]).exp();
  }
  Vector weights = Vector::Constant(models, 1.0 / static_cast<double>(models));
  for (int step = 0; step < kSteps; ++step) {
    Vector next = Vector::Zero(models);
    for (Eigen::Index i = 0; i < density.cols(); ++i) {
      const double sum = weights.dot(density.col(i));
      if (sum > 0) next += density.col(i) / sum;
    }
    if (!(next.sum() > 0)) return weights;
    next = next.cwiseProduct(weights);
    next /= next.sum();
    const double change = (next - weights).cwiseAbs().maxCoeff();
    weights = next;
    if (change < kStill) break;
  }
  return weights;
}

}  // namespace fidelio
