// Data drawn from a prior for simulation-based calibration, and ranks among draws of a posterior.
#ifndef FIDELIO_TESTS_BENCH_CALIBRATION_DATA_H_
#define FIDELIO_TESTS_BENCH_CALIBRATION_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/base/random.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/data/scaled_data.h"
#include "tests/bench/calibration_cases.h"

namespace fidelio::bench {

// Inputs in [0, 1], one per equal interval of each level (observations) and at random (tests).
struct CalibrationInputs {
  std::vector<Matrix> x;  // per level, n_t×1
  Matrix test;            // M×1

  CalibrationInputs(const std::vector<int>& counts, int tests, Random& random);
  Matrix All() const;  // level by level, then the tests
};

struct CalibrationData {
  Dataset data;
  std::vector<Vector> test_f;  // per level, at the tests
};

// f: per level, at CalibrationInputs::All; noise: variance per level. Empty where a value is not finite.
CalibrationData Observe(const CalibrationInputs& inputs, const std::vector<Vector>& f, const std::vector<double>& noise,
                        Random& random);

// Observations that are still 0: for models of which only the parameters are wanted.
Dataset Unobserved(const CalibrationInputs& inputs);

// In its own units: priors of the standardised model then hold for the data as they are.
ScaledData Unscaled(const Dataset& data);

// N(mean, covariance), which may be singular.
Vector DrawGaussian(const Vector& mean, const Matrix& covariance, Random& random);

// A weighted posterior sample: θ, and f's Gaussians at the tests, S×M per level; levels that are not wanted are empty.
struct PosteriorSample {
  Vector weight;  // S, summing to 1
  std::vector<Vector> theta;
  std::vector<Matrix> mean, variance;
};

// `count` of draws with these weights, by systematic resampling.
std::vector<int> Resample(const Vector& weight, int count, Random& random);

// Ranks of the entries of θ at `places`, then of f at the first test, one per level of the sample that is not empty; and the
// coverage of f at the highest level.
CalibrationReplicate Compare(const PosteriorSample& sample, const Vector& theta, const std::vector<int>& places,
                             const std::vector<Vector>& test_f, Random& random);

// Of public predictions Σ_s w_s N(m_s, v_s): the same for f at the highest level alone, whose rank comes from the CDF.
CalibrationReplicate CompareMixture(const Vector& weight, const Matrix& mean, const Matrix& variance,
                                    const Vector& test_f);

// Fits by the method as a user does, and compares.
CalibrationReplicate FitAndCompare(const std::string& method, const CalibrationData& drawn, const Matrix& test,
                                   uint64_t seed);

CalibrationReplicate FailedReplicate(const absl::Status& status);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_CALIBRATION_DATA_H_
