#include "core/data/scaled_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fidelio {

using Eigen::Index;

Matrix Scaling::ScaleInputs(const Matrix& x) const {
  return ((x.rowwise() - input_low.transpose()).array().rowwise() / input_width.transpose().array()).matrix();
}

Scaling ScalingOf(const Dataset& data, int first_level) {
  Scaling map;
  map.input_low = Vector::Constant(data.dimension(), std::numeric_limits<double>::infinity());
  Vector input_high = -map.input_low;
  double largest = 0;
  for (int t = 0; t < static_cast<int>(data.levels.size()); ++t) {
    const LevelData& level = data.levels[t];
    if (level.y.size() == 0) continue;
    map.input_low = map.input_low.cwiseMin(level.x.colwise().minCoeff().transpose());
    input_high = input_high.cwiseMax(level.x.colwise().maxCoeff().transpose());
    if (t >= first_level) largest = std::max(largest, level.y.cwiseAbs().maxCoeff());
  }
  if (data.box) {
    map.input_low = data.box->lower;
    input_high = data.box->upper;
  }
  map.input_width = input_high - map.input_low;
  for (double& width : map.input_width) {
    if (!(width > 0)) width = 1;
  }
  // Two passes over values divided by their largest magnitude, so that outputs near the limits of double work.
  const auto y0 = data.levels[first_level].y.array();
  const double unit = largest > 0 ? largest : 1;
  const double mean = (y0 / unit).mean();
  const double sd = std::sqrt((y0 / unit - mean).square().mean());
  map.output_mean = mean * unit;
  map.output_sd = sd > 1e-13 * std::abs(mean) && sd > 0 ? sd * unit : unit;
  return map;
}

ScaledData ScaleData(const Dataset& data, int first_level) {
  return ScaleData(data, first_level, ScalingOf(data, first_level));
}

ScaledData ScaleData(const Dataset& data, int first_level, const Scaling& scaling) {
  ScaledData s;
  s.scaling = scaling;
  Index total = 0;
  s.offset.push_back(0);
  for (int t = first_level; t < static_cast<int>(data.levels.size()); ++t) {
    total += data.levels[t].y.size();
    s.offset.push_back(static_cast<int>(total));
    s.learn_noise.push_back(data.levels[t].noise_variance.size() == 0);
  }
  Matrix x(total, data.dimension());
  s.y.resize(total);
  s.noise.setZero(total);
  for (int t = 0; t < s.levels(); ++t) {
    const LevelData& level = data.levels[first_level + t];
    const Index n = level.y.size(), at = s.offset[t];
    if (n == 0) continue;
    x.middleRows(at, n) = level.x;
    s.y.segment(at, n) = level.y;
    if (!s.learn_noise[t]) s.noise.segment(at, n) = level.noise_variance;
  }
  s.x = scaling.ScaleInputs(x);
  s.y = (s.y.array() - scaling.output_mean) / scaling.output_sd;
  s.noise /= scaling.output_sd;
  s.noise /= scaling.output_sd;
  s.raw_zero = -scaling.output_mean / scaling.output_sd;
  return s;
}

}  // namespace fidelio
