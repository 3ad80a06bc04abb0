#include "core/emulator/mixture.h"

#include <algorithm>
#include <cmath>

#include "core/base/equal_rows.h"
#include "core/base/normal.h"

namespace fidelio {

using Eigen::ArrayXd;
using Eigen::Index;

namespace {

constexpr double kInverseRootTwoPi = 0.39894228040143267794;

// e^{u²/2} Φ(−u) of u ≥ 0 to 1e-13: 1/(5 + u) times a polynomial of (5 − u)/(5 + u), by expansion in Chebyshev polynomials.
// Unlike erfc, compilers make it work on several u at once.
double ScaledTail(double u) {
  constexpr double kCoefficients[] = {2.21460397884161995e-7,  2.21961309427698941e-7, -2.42273435306774228e-6,
                                      -3.80903108098696968e-6, 1.63552313317185103e-5, 4.96142954118317129e-5,
                                      -5.91919999380996524e-5, -5.448235943102084e-4,  -7.97931100180532986e-4,
                                      2.9933546832738857e-3,   2.07950785359264423e-2, 6.91186421625922091e-2,
                                      0.16502036504639525,     0.313533156427268478,   0.495305616011564005,
                                      0.665382502895098327,    0.769193049749809048};
  const double inverse = 1 / (5 + u), s = (5 - u) * inverse;
  double sum = kCoefficients[0];
  for (int i = 1; i < 17; ++i) sum = sum * s + kCoefficients[i];
  return sum * inverse;
}

// The CDF of one point's mixture and its first three derivatives, with memory that is used again for other points.
class CdfSeries {
 public:
  explicit CdfSeries(const Mixture& mixture) : mixture_(mixture), weight_(mixture.weight.array()) {}

  void SetPoint(Index i) {
    point_ = i;
    inverse_sd_ = mixture_.variance.col(i).array().sqrt().inverse();
    largest_inverse_sd = inverse_sd_.maxCoeff();
  }

  void Evaluate(double x) {
    u_ = (x - mixture_.mean.col(point_).array()) * inverse_sd_;
    square_ = u_.square();
    bell_ = weight_ * (-0.5 * square_).exp();
    tail_.resize(u_.size());
    for (Index s = 0; s < u_.size(); ++s) tail_[s] = bell_[s] * ScaledTail(std::abs(u_[s]));
    cdf = (u_ < 0).select(tail_, weight_ - tail_).sum();
    bell_ *= kInverseRootTwoPi * inverse_sd_;
    density = bell_.sum();
    bell_ *= inverse_sd_;
    slope = -(bell_ * u_).sum();
    bell_ *= inverse_sd_;
    curvature = (bell_ * (square_ - 1)).sum();
    fourth = (bell_ * inverse_sd_).sum();
  }

  double cdf = 0, density = 0, slope = 0, curvature = 0;
  double fourth = 0;  // the size of the fourth derivative
  double largest_inverse_sd = 0;

 private:
  const Mixture& mixture_;
  const ArrayXd weight_;
  Index point_ = 0;
  ArrayXd inverse_sd_, u_, square_, bell_, tail_;
};

}  // namespace

Vector MixtureMean(const Mixture& mixture) { return mixture.mean.transpose() * mixture.weight; }

Vector MixtureVariance(const Mixture& mixture, const Vector& mean) {
  const Matrix spread = mixture.variance.array() + (mixture.mean.rowwise() - mean.transpose()).array().square();
  return spread.transpose() * mixture.weight;
}

Vector MixtureCdf(const Mixture& mixture, const Vector& at) {
  Vector result(at.size());
  CdfSeries series(mixture);
  for (Index i = 0; i < at.size(); ++i) {
    series.SetPoint(i);
    series.Evaluate(at[i]);
    result[i] = series.cdf;
  }
  return result;
}

Medians MixtureMedians(const Mixture& mixture, const Vector& mean) {
  // After a step that is short beside every component, the error is that of a Taylor series.
  constexpr double kShort = 0.5, kLargestError = 1e-10;
  constexpr int kMostSteps = 6;
  const Index n = mixture.mean.cols();
  Medians result{.median = mean, .mean_cdf = Vector::Constant(n, 0.5)};
  CdfSeries at(mixture);
  for (Index i = 0; i < n; ++i) {
    // The median lies between those of the components.
    const double low = mixture.mean.col(i).minCoeff(), high = mixture.mean.col(i).maxCoeff();
    if (!(low < high)) continue;
    at.SetPoint(i);
    double x = std::clamp(mean[i], low, high);
    bool found = false;
    for (int step = 0; step < kMostSteps && !found; ++step) {
      at.Evaluate(x);
      if (step == 0) result.mean_cdf[i] = at.cdf;
      // Householder's method of the third order.
      const double f = at.cdf - 0.5, f1 = at.density;
      const double denominator = 6 * f1 * f1 * f1 - 6 * f * f1 * at.slope + f * f * at.curvature;
      const double next = x - (6 * f * f1 * f1 - 3 * f * f * at.slope) / denominator;
      if (!(next >= low && next <= high)) break;  // not a number included
      const double length = std::abs(next - x);
      const bool newton = std::abs(length * f1 - std::abs(f)) <= kShort * std::abs(f);  // not so between two modes
      found = newton && length * at.largest_inverse_sd <= kShort && at.fourth * std::pow(length, 4) <= kLargestError;
      x = next;
    }
    // Several separate modes: the safe way.
    if (!found) {
      const Mixture one{.weight = mixture.weight, .mean = mixture.mean.col(i), .variance = mixture.variance.col(i)};
      x = MixtureQuantiles(one, {0.5})(0, 0);
    }
    result.median[i] = x;
  }
  return result;
}

Prediction RoomFor(const Matrix& x, const PredictOptions& options) {
  const Eigen::Index n = x.rows();
  Prediction room{.mean = Vector(n), .variance = Vector(n), .median = Vector(n), .mean_cdf = Vector(n)};
  room.quantiles.resize(n, static_cast<Eigen::Index>(options.quantiles.size()));
  if (options.input_gradient) room.input_gradient.resize(n, x.cols());
  return room;
}

void SetMedians(const Mixture& mixture, const Vector& mean, Index begin, Prediction& prediction) {
  const Medians medians = MixtureMedians(mixture, mean);
  prediction.median.segment(begin, mean.size()) = medians.median;
  prediction.mean_cdf.segment(begin, mean.size()) = medians.mean_cdf;
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
        const double newton = x - (cdf - p) / (density * kInverseRootTwoPi);
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
  result.median.resize(n);
  result.mean_cdf.resize(n);
  for (Index i = 0; i < n; ++i) {
    const Mixture at{
        .weight = observed.weight.col(i), .mean = observed.mean.col(i), .variance = observed.variance.col(i)};
    const Vector y = observed.y.segment(i, 1), mean = MixtureMean(at);
    result.mean[i] = mean[0];
    result.variance[i] = MixtureVariance(at, mean)[0];
    const Medians medians = MixtureMedians(at, mean);
    result.median[i] = medians.median[0];
    result.mean_cdf[i] = medians.mean_cdf[0];
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
