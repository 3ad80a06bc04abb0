// KnownMixture: a MixtureEmulator of one input and one level whose Gaussians are known: what output transforms are tested with.
//
//   component s at x: N(mean[s] + slope[s] x, variance[s] e^{growth[s] x})
#ifndef FIDELIO_TESTS_SUPPORT_KNOWN_MIXTURE_H_
#define FIDELIO_TESTS_SUPPORT_KNOWN_MIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/emulator/mixture_emulator.h"

namespace fidelio {

struct KnownMixture final : public MixtureEmulator {
  Vector weight, mean, slope, variance, growth;
  Dataset known;  // leave-one-out predicts its outputs by the same Gaussians
  FitReport fit_report;

  int levels() const override { return 1; }
  int input_dimension() const override { return 1; }

  absl::StatusOr<Mixture> PredictMixture(const Matrix& x, const PredictOptions&) const override {
    Mixture z{.weight = weight, .mean = Matrix(weight.size(), x.rows()), .variance = Matrix(weight.size(), x.rows())};
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      z.mean.col(i) = mean + slope * x(i, 0);
      z.variance.col(i) = variance.array() * (growth * x(i, 0)).array().exp();
    }
    return z;
  }
  absl::StatusOr<Matrix> MixtureGradient(const Matrix& x, const Matrix& mean_bar, const Matrix& variance_bar,
                                         const PredictOptions& options) const override {
    const Matrix spread = PredictMixture(x, options)->variance;
    return Matrix(mean_bar.transpose() * slope + variance_bar.cwiseProduct(spread).transpose() * growth);
  }
  absl::StatusOr<Prediction> Predict(const Matrix& x, const PredictOptions& options) const override {
    const Mixture z = *PredictMixture(x, options);
    Prediction p{.mean = MixtureMean(z), .median = Vector(x.rows()), .mean_cdf = Vector(x.rows())};
    p.variance = MixtureVariance(z, p.mean);
    SetMedians(z, p.mean, 0, p);
    return p;
  }
  absl::StatusOr<std::vector<ObservedMixtures>> LeaveOneOutMixtures() const override {
    const LevelData& level = known.levels[0];
    const Mixture z = *PredictMixture(level.x, {});
    return std::vector<ObservedMixtures>{
        {.y = level.y, .weight = weight.replicate(1, level.y.size()), .mean = z.mean, .variance = z.variance}};
  }
  absl::StatusOr<std::vector<LeaveOneOut>> LeaveOneOutPredictions() const override {
    return std::vector<LeaveOneOut>{Summarise(LeaveOneOutMixtures()->front())};
  }
  absl::StatusOr<std::unique_ptr<Emulator>> Condition(const Dataset& data, int) const override {
    auto copy = std::make_unique<KnownMixture>(*this);
    copy->known = data;
    return copy;
  }
  const Dataset& data() const override { return known; }
  const FitReport& report() const override { return fit_report; }
  uint32_t checkpoint_kind() const override { return 0; }
  int64_t MemoryBytes() const override { return 0; }
  std::string Save() const override { return ""; }
  absl::StatusOr<Vector> LogDensity(const Matrix& x, const Vector& y, const PredictOptions& options) const override {
    return MixtureLogDensity(*PredictMixture(x, options), y);
  }
  absl::StatusOr<JointPosterior> JointMomentsAt(const Matrix& x, const std::vector<int>&,
                                                const PredictOptions& options) const override {
    const Prediction p = *Predict(x, options);
    return JointPosterior{.mean = p.mean, .covariance = p.variance.asDiagonal()};
  }
  absl::StatusOr<Matrix> SamplePaths(const Matrix&, const SampleOptions&) const override {
    return absl::UnimplementedError("KnownMixture");
  }
  absl::StatusOr<std::unique_ptr<PathSamples>> DrawPaths(const PathOptions&) const override {
    return absl::UnimplementedError("KnownMixture");
  }
};

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_KNOWN_MIXTURE_H_
