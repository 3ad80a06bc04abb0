#include "core/emulator/diagnostics.h"

#include <cmath>

#include "core/base/equal_rows.h"

namespace fidelio {
namespace {

// The share of observations within the central interval of that probability.
double Coverage(const Vector& cdf, double probability) {
  return ((cdf.array() - 0.5).abs() <= probability / 2).cast<double>().mean();
}

}  // namespace

LevelDiagnostics Diagnose(const LeaveOneOut& left_out) {
  LevelDiagnostics d;
  d.count = static_cast<int>(left_out.y.size());
  d.distinct_count = d.count;
  if (!left_out.group.empty()) d.distinct_count = GroupCount(left_out.group);
  d.inflation = left_out.inflation;
  if (d.count == 0) return d;
  d.mean = left_out.mean;
  d.variance = left_out.variance;
  d.cdf = left_out.cdf;
  d.median = left_out.median;
  d.median_rmse = std::sqrt((left_out.y - left_out.median).squaredNorm() / d.count);
  const Vector errors = left_out.y - left_out.mean;
  d.residuals = errors.cwiseQuotient(left_out.variance.cwiseSqrt());
  d.rmse = std::sqrt(errors.squaredNorm() / d.count);
  const double spread = (left_out.y.array() - left_out.y.mean()).square().sum();
  if (spread > 0) d.r2 = 1 - errors.squaredNorm() / spread;
  d.mean_log_density = left_out.log_density.mean();
  d.coverage50 = Coverage(left_out.cdf, 0.50);
  d.coverage90 = Coverage(left_out.cdf, 0.90);
  d.coverage95 = Coverage(left_out.cdf, 0.95);
  return d;
}

}  // namespace fidelio
