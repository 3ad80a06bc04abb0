// GaussianEmulator: an Emulator that is one Gaussian process of two levels, known in closed form: what designs are tested with.
//
//   f_1(x) = mean(x) + g(x),   f_0(x) = mean(x) + r g(x) + √(1−r²) h(x),   g, h independent with an RBF kernel
#ifndef FIDELIO_TESTS_SUPPORT_GAUSSIAN_EMULATOR_H_
#define FIDELIO_TESTS_SUPPORT_GAUSSIAN_EMULATOR_H_

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/emulator/emulator.h"

namespace fidelio {

struct GaussianEmulator : public Emulator {
  double correlation = 0.9;
  double lengthscale = 0.2;
  double noise = 0;  // variance of observations, at both levels
  int dimension = 1;
  std::function<double(const Eigen::RowVectorXd&)> mean = [](const Eigen::RowVectorXd&) { return 0.0; };

  int levels() const override { return 2; }
  int input_dimension() const override { return dimension; }

  absl::StatusOr<JointPosterior> JointMomentsAt(const Matrix& x, const std::vector<int>& levels,
                                                const PredictOptions& options) const override {
    const Eigen::Index n = x.rows();
    JointPosterior joint{.mean = Vector(n), .covariance = Matrix(n, n)};
    for (Eigen::Index i = 0; i < n; ++i) {
      joint.mean[i] = mean(x.row(i));
      for (Eigen::Index j = 0; j < n; ++j) {
        const double k = std::exp(-0.5 * (x.row(i) - x.row(j)).squaredNorm() / (lengthscale * lengthscale));
        joint.covariance(i, j) = (levels[i] == levels[j] ? 1 : correlation) * k;
      }
      if (options.include_noise) joint.covariance(i, i) += noise;
    }
    return joint;
  }
  absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const override {
    const auto joint = JointMomentsAt(x, std::vector<int>(x.rows(), options.level < 0 ? 1 : options.level), options);
    return Prediction{.mean = joint->mean,
                      .variance = joint->covariance.diagonal(),
                      .median = joint->mean,
                      .mean_cdf = Vector::Constant(x.rows(), 0.5)};
  }
  absl::StatusOr<Vector> LogDensity(const Matrix&, const Vector&, const PredictOptions&) const override {
    return absl::UnimplementedError("GaussianEmulator");
  }
  absl::StatusOr<Matrix> SamplePaths(const Matrix&, const SampleOptions&) const override {
    return absl::UnimplementedError("GaussianEmulator");
  }
  absl::StatusOr<std::unique_ptr<PathSamples>> DrawPaths(const PathOptions&) const override {
    return absl::UnimplementedError("GaussianEmulator");
  }
  absl::StatusOr<std::vector<LeaveOneOut>> LeaveOneOutPredictions() const override {
    return absl::UnimplementedError("GaussianEmulator");
  }
  absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset&, int) const override {
    return absl::UnimplementedError("GaussianEmulator");
  }
  std::string Save() const override { return ""; }
};

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_GAUSSIAN_EMULATOR_H_
