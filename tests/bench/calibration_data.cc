#include "tests/bench/calibration_data.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "Eigen/Eigenvalues"
#include "absl/strings/str_cat.h"
#include "core/base/normal.h"
#include "core/registry/emulator_registry.h"

namespace fidelio::bench {

using Eigen::Index;

CalibrationInputs::CalibrationInputs(const std::vector<int>& counts, int tests, Random& random) {
  for (const int n : counts) {
    Matrix& level = x.emplace_back(n, 1);
    for (int i = 0; i < n; ++i) level(i, 0) = (i + random.Uniform()) / n;
  }
  test.resize(tests, 1);
  for (int i = 0; i < tests; ++i) test(i, 0) = random.Uniform();
}

Matrix CalibrationInputs::All() const {
  Index rows = test.rows();
  for (const Matrix& level : x) rows += level.rows();
  Matrix all(rows, test.cols());
  Index at = 0;
  for (const Matrix& level : x) {
    all.middleRows(at, level.rows()) = level;
    at += level.rows();
  }
  all.bottomRows(test.rows()) = test;
  return all;
}

CalibrationData Observe(const CalibrationInputs& inputs, const std::vector<Vector>& f, const std::vector<double>& noise,
                        Random& random) {
  CalibrationData drawn;
  drawn.data = Unobserved(inputs);
  Index at = 0;
  for (size_t t = 0; t < f.size(); ++t) {
    LevelData& level = drawn.data.levels[t];
    const Index n = level.y.size();
    level.y = f[t].segment(at, n) + std::sqrt(noise[t]) * random.NormalVector(static_cast<int>(n));
    at += n;
    drawn.test_f.push_back(f[t].tail(inputs.test.rows()));
  }
  return drawn;
}

Dataset Unobserved(const CalibrationInputs& inputs) {
  Dataset data;
  for (const Matrix& x : inputs.x) data.levels.push_back({.x = x, .y = Vector::Zero(x.rows()), .noise_variance = {}});
  const Index d = inputs.test.cols();
  data.box = InputBox{.lower = Vector::Zero(d), .upper = Vector::Ones(d)};
  return data;
}

ScaledData Unscaled(const Dataset& data) {
  const int d = data.dimension();
  return ScaleData(data, 0, Scaling{.input_low = Vector::Zero(d), .input_width = Vector::Ones(d)});
}

Vector DrawGaussian(const Vector& mean, const Matrix& covariance, Random& random) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(covariance);
  const Vector z = random.NormalVector(static_cast<int>(mean.size()));
  return mean + eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).cwiseSqrt().cwiseProduct(z);
}

std::vector<int> Resample(const Vector& weight, int count, Random& random) {
  const double offset = random.Uniform();
  std::vector<int> chosen;
  double sum = 0;
  for (Index s = 0; s < weight.size(); ++s) {
    sum += weight[s];
    while (static_cast<int>(chosen.size()) < count && (static_cast<double>(chosen.size()) + offset) / count < sum) {
      chosen.push_back(static_cast<int>(s));
    }
  }
  while (static_cast<int>(chosen.size()) < count) chosen.push_back(static_cast<int>(weight.size()) - 1);
  return chosen;
}

CalibrationReplicate Compare(const PosteriorSample& sample, const Vector& theta, const std::vector<int>& places,
                             const std::vector<Vector>& test_f, Random& random) {
  CalibrationReplicate result =
      CompareMixture(sample.weight, sample.mean.back(), sample.variance.back(), test_f.back());
  result.ranks.clear();
  const std::vector<int> chosen = Resample(sample.weight, kRankDraws, random);
  for (const int place : places) {
    result.ranks.push_back(static_cast<int>(
        std::count_if(chosen.begin(), chosen.end(), [&](int s) { return sample.theta[s][place] < theta[place]; })));
  }
  for (size_t t = 0; t < sample.mean.size(); ++t) {
    if (sample.mean[t].size() == 0) continue;
    result.ranks.push_back(static_cast<int>(std::count_if(chosen.begin(), chosen.end(), [&](int s) {
      return sample.mean[t](s, 0) + std::sqrt(sample.variance[t](s, 0)) * random.Normal() < test_f[t][0];
    })));
  }
  return result;
}

CalibrationReplicate CompareMixture(const Vector& weight, const Matrix& mean, const Matrix& variance,
                                    const Vector& test_f) {
  CalibrationReplicate result;
  result.points = static_cast<int>(test_f.size());
  for (Index i = 0; i < test_f.size(); ++i) {
    double below = 0;
    for (Index s = 0; s < weight.size(); ++s) {
      below += weight[s] * NormalCdf((test_f[i] - mean(s, i)) / std::sqrt(variance(s, i)));
    }
    if (!std::isfinite(below)) return FailedReplicate(absl::InternalError("a prediction that is not finite"));
    result.covered += below >= 0.025 && below <= 0.975;
    if (i == 0) result.ranks = {std::clamp(static_cast<int>(below * (kRankDraws + 1)), 0, kRankDraws)};
  }
  return result;
}

CalibrationReplicate FitAndCompare(const std::string& method, const CalibrationData& drawn, const Matrix& test,
                                   uint64_t seed) {
  const absl::StatusOr<const EmulatorMethod*> found = FindEmulatorMethod(method);
  if (!found.ok()) return FailedReplicate(found.status());
  const absl::StatusOr<std::unique_ptr<EmulatorFit>> fit = (*found)->create(drawn.data, {.seed = seed, .threads = 1});
  if (!fit.ok()) return FailedReplicate(fit.status());
  const absl::StatusOr<std::unique_ptr<MixtureEmulator>> model = (*fit)->Run(nullptr);
  if (!model.ok()) return FailedReplicate(model.status());
  const absl::StatusOr<Mixture> mixture = (*model)->PredictMixture(test, {});
  if (!mixture.ok()) return FailedReplicate(mixture.status());
  return CompareMixture(mixture->weight, mixture->mean, mixture->variance, drawn.test_f.back());
}

CalibrationReplicate FailedReplicate(const absl::Status& status) {
  CalibrationReplicate failed;
  failed.error = status.ToString();
  return failed;
}

}  // namespace fidelio::bench
