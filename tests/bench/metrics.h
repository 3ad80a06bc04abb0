// How good predictions are, compared with noise-free targets y_i. With the predictive mean m_i and variance v_i (noise
// included, moments of the mixture), s_i = √v_i and z_i = (y_i − m_i)/s_i:
//
//   rmse = √mean (y − m)²                 r2 = 1 − Σ(y − m)² / Σ(y − ȳ)²
//   mnll = mean ½ log 2πv + ½ z²          crps = mean s·[ z(2Φ(z) − 1) + 2φ(z) − 1/√π ]
//   coverage95 = share of y between the mixture's 2.5 % and 97.5 % quantiles
//
// Limits: m = y ⇒ rmse 0, r2 1.  s → 0 ⇒ crps is the mean absolute error.  m = ȳ ⇒ r2 0.
#ifndef FIDELIO_TESTS_BENCH_METRICS_H_
#define FIDELIO_TESTS_BENCH_METRICS_H_

#include <vector>

#include "core/emulator/emulator.h"

namespace fidelio::bench {

struct Scores {
  double r2 = 0;
  double rmse = 0;
  double mnll = 0;
  double crps = 0;
  double coverage95 = 0;
};

// The prediction must hold the quantiles .025 and .975, in this order. Sizes must agree and be at least one.
Scores Score(const Vector& y, const Prediction& prediction);

// √mean (y − ȳ)²: what rmse is divided by to be comparable between problems.
double StandardDeviation(const Vector& y);

// 0 for no values.
double Mean(const std::vector<double>& values);

// The smallest value that at least share·n values do not exceed; 0 for no values.
double Percentile(std::vector<double> values, double share);

}  // namespace fidelio::bench

#endif  // FIDELIO_TESTS_BENCH_METRICS_H_
