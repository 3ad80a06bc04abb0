#include "core/emulator/mixture.h"

#include <algorithm>
#include <cmath>

#include "core/base/equal_rows.h"
#include "core/base/normal.h"

namespace fidelio {

using Eigen::ArrayXd;
using Eigen::Index;

Vector MixtureMean(const Mixture& mixture) { return mixture.mean.transpose() * mixture.weight; }

Vector MixtureVariance(const Mixture& mixture, const Vector& mean) {
  const Matrix spread = mixture.variance.array() + (mixture.mean.rowwise() - mean.transpose()).array().square();
  return spread.transpose() * mixture.weight;
}

Matrix MixtureQuantiles(const Mixture& mixture, const std::vector<double>& probabilities) {
  const Index n = mixture.mean.cols(), components = mixture.weight.size();
  Matrix result(n, probabilities.size());
  for (Index i = 0; i < n; ++i) {
    const ArrayXd m = mixture.mean.col(i).array(), sd = mixture.variance.col(i).array().sqrt();
    for (size_t k = 0; k < probabilities.size(); ++k) {
      const double p = probabilities[k], z = NormalQuantile(p);
      // The mixture's quantile lies between the smallest and the largest quantile of its components.
      double low = (m + z * sd).minCoeff(), high = (m + z * sd).maxCoeff();
      double x = 0.5 * (low + high);
      const double tolerance = 1e-12 * sd.maxCoeff();
      for (int iteration = 0; iteration < 200 && high - low > tolerance; ++iteration) {
        double cdf = 0, density = 0;
        for (Index s = 0; s < components; ++s) {
          const double u = (x - m[s]) / sd[s];
          cdf += mixture.weight[s] * NormalCdf(u);
          density += mixture.weight[s] * std::exp(-0.5 * u * u) / sd[s];
        }
        (cdf < p ? low : high) = x;
        const double newton = x - (cdf - p) / (density * 0.39894228040143267794);
        const bool inside = newton > low && newton < high;
        if (inside && std::abs(newton - x) < tolerance) {
          x = newton;
          break;
        }
        x = inside ? newton : 0.5 * (low + high);
      }
      result(i, static_cast<Index>(k)) = x;
    }
  }
  return result;
}

Vector MixtureLogDensity(const Mixture& mixture, const Vector& y) {
  Vector result(y.size());
  for (Index i = 0; i < y.size(); ++i) {
    const auto m = mixture.mean.col(i).array();
    const auto v = mixture.variance.col(i).array();
    const ArrayXd terms = mixture.weight.array().log() - 0.5 * (v.log() + kLogTwoPi + (y[i] - m).square() / v);
    const double largest = terms.maxCoeff();
    result[i] = largest + std::log((terms - largest).exp().sum());
  }
  return result;
}

LeaveOneOut Summarise(const ObservedMixtures& observed) {
  const Index n = observed.y.size();
  LeaveOneOut result{
      .y = observed.y, .mean = Vector(n), .variance = Vector(n), .cdf = Vector(n), .log_density = Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const Mixture at{
        .weight = observed.weight.col(i), .mean = observed.mean.col(i), .variance = observed.variance.col(i)};
    const Vector y = observed.y.segment(i, 1), mean = MixtureMean(at);
    result.mean[i] = mean[0];
    result.variance[i] = MixtureVariance(at, mean)[0];
    result.log_density[i] = MixtureLogDensity(at, y)[0];
    result.cdf[i] = 0;
    for (Index s = 0; s < at.weight.size(); ++s) {
      result.cdf[i] += at.weight[s] * NormalCdf((y[0] - at.mean(s, 0)) / std::sqrt(at.variance(s, 0)));
    }
  }
  result.group = observed.group;
  return result;
}

double MeanSquaredResidual(const LeaveOneOut& left_out) {
  const Vector squared = (left_out.y - left_out.mean).array().square() / left_out.variance.array();
  return GroupMean(squared, left_out.group);
}

}  // namespace fidelio
