#include "core/dgp/scaled_data.h"

#include <cmath>

namespace fidelio {

using Eigen::Index;

Matrix Scaling::ScaleInputs(const Matrix& x) const {
  return ((x.rowwise() - input_low.transpose()).array().rowwise() / input_width.transpose().array()).matrix();
}

ScaledData ScaleData(const Dataset& data) {
  ScaledData s;
  Index total = 0;
  s.offset.push_back(0);
  for (const LevelData& level : data.levels) {
    total += level.y.size();
    s.offset.push_back(static_cast<int>(total));
    s.learn_noise.push_back(level.noise_variance.size() == 0);
  }
  Matrix x(total, data.dimension());
  s.y.resize(total);
  s.noise.setZero(total);
  for (size_t t = 0; t < data.levels.size(); ++t) {
    const LevelData& level = data.levels[t];
    const Index n = level.y.size(), at = s.offset[t];
    if (n == 0) continue;
    x.middleRows(at, n) = level.x;
    s.y.segment(at, n) = level.y;
    if (!s.learn_noise[t]) s.noise.segment(at, n) = level.noise_variance;
  }
  Scaling& map = s.scaling;
  if (data.box) {
    map.input_low = data.box->lower;
    map.input_width = data.box->upper - data.box->lower;
  } else {
    map.input_low = x.colwise().minCoeff().transpose();
    map.input_width = x.colwise().maxCoeff().transpose() - map.input_low;
  }
  for (double& width : map.input_width) {
    if (!(width > 0)) width = 1;
  }
  // Two passes over values divided by their largest magnitude, so that outputs near the limits of double work.
  const auto y0 = data.levels[0].y.array();
  const double largest = s.y.cwiseAbs().maxCoeff();
  const double unit = largest > 0 ? largest : 1;
  const double mean = (y0 / unit).mean();
  const double sd = std::sqrt((y0 / unit - mean).square().mean());
  map.output_mean = mean * unit;
  map.output_sd = sd > 1e-13 * std::abs(mean) && sd > 0 ? sd * unit : unit;
  s.x = map.ScaleInputs(x);
  s.y = (s.y.array() - map.output_mean) / map.output_sd;
  s.noise /= map.output_sd;
  s.noise /= map.output_sd;
  s.raw_zero = -map.output_mean / map.output_sd;
  return s;
}

}  // namespace fidelio
