#include "tests/bench/metrics.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fidelio::bench {

Scores Score(const Vector& y, const Prediction& prediction) {
  using std::numbers::inv_sqrtpi;
  using std::numbers::pi;
  using std::numbers::sqrt2;
  const int n = static_cast<int>(y.size());
  Scores sum;
  for (int i = 0; i < n; ++i) {
    const double error = y[i] - prediction.mean[i];
    const double variance = prediction.variance[i];
    const double s = std::sqrt(variance);
    const double z = error / s;
    sum.mnll += 0.5 * std::log(2 * pi * variance) + 0.5 * z * z;
    sum.crps += s * (z * std::erf(z / sqrt2) + 2 * std::exp(-0.5 * z * z) * inv_sqrtpi / sqrt2 - inv_sqrtpi);
    sum.coverage95 += prediction.quantiles(i, 0) <= y[i] && y[i] <= prediction.quantiles(i, 1) ? 1 : 0;
  }
  Scores scores;
  const double mean_square = (y - prediction.mean).squaredNorm() / n;
  const double sd = StandardDeviation(y);
  scores.r2 = 1 - mean_square / (sd * sd);
  scores.rmse = std::sqrt(mean_square);
  scores.mnll = sum.mnll / n;
  scores.crps = sum.crps / n;
  scores.coverage95 = sum.coverage95 / n;
  return scores;
}

double StandardDeviation(const Vector& y) { return std::sqrt((y.array() - y.mean()).square().mean()); }

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const size_t index = static_cast<size_t>(std::max(1.0, rank)) - 1;
  return values[std::min(index, values.size() - 1)];
}

}  // namespace fidelio::bench
