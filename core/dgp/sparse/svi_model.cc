#include "core/dgp/sparse/svi_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/dgp/sparse/variational_model.h"
#include "core/param/positive.h"

namespace fidelio {
namespace {

constexpr int kMostSviInducing = 1000, kMostInBatch = 1000, kMostSviNodes = 1000, kMostSamples = 10;
constexpr int kCandidatesPerPoint = 20;
constexpr double kOutputSd = 1.0 / 3;

// Every `stride`-th of the observations of a level; where those are far too many, a random choice of them.
std::vector<int> Candidates(const ScaledData& data, int level, int stride, int most, uint64_t seed) {
  const int count = (data.count(level) + stride - 1) / stride;
  std::vector<int> candidates;
  if (count <= kCandidatesPerPoint * most) {
    for (int i = 0; i < count; ++i) candidates.push_back(data.offset[level] + i * stride);
    return candidates;
  }
  Random random(seed, StreamOf(RandomUse::kInducingPoints), static_cast<uint32_t>(level));
  for (int i = 0; i < kCandidatesPerPoint * most; ++i) {
    candidates.push_back(data.offset[level] + static_cast<int>(random.Uniform() * count) * stride);
  }
  return candidates;
}

}  // namespace

SviSettings SviSettings::For(const std::vector<int>& counts, int inducing_points, int batch_size) {
  SviSettings settings;
  settings.inducing_points = inducing_points > 0 ? inducing_points : kMostSviInducing;
  settings.batch_size = batch_size > 0 ? batch_size : kMostInBatch;
  int upper = 0;
  for (size_t t = 1; t < counts.size(); ++t) upper += std::min(counts[t], settings.batch_size);
  settings.samples = std::clamp(kMostSviNodes / std::max(1, upper), 1, kMostSamples);
  return settings;
}

ScaledData ScaleForSvi(const Dataset& data) {
  // Values divided by their largest magnitude, so that outputs near the limits of double work.
  double unit = 0, mean = 0, square = 0, levels = 0;
  for (const LevelData& level : data.levels) {
    if (level.y.size() == 0) continue;
    unit = std::max(unit, level.y.cwiseAbs().maxCoeff());
    ++levels;
  }
  if (!(unit > 0)) unit = 1;
  for (const LevelData& level : data.levels) {
    if (level.y.size() > 0) mean += (level.y / unit).mean() / levels;
  }
  for (const LevelData& level : data.levels) {
    if (level.y.size() > 0) square += ((level.y / unit).array() - mean).square().mean() / levels;
  }
  const double sd = std::sqrt(square);
  ScaledData first = ScaleData(data);
  Scaling scaling = std::move(first.scaling);
  scaling.output_mean = mean * unit;
  scaling.output_sd = (sd > 1e-13 * std::abs(mean) && sd > 0 ? sd : 1) / kOutputSd * unit;
  return ScaleData(data, 0, scaling);
}

SviModel::SviModel(ScaledData scaled, KernelFamily family, const SviSettings& s, uint64_t seed)
    : data(std::move(scaled)), settings(s) {
  for (int t = 0; t < data.levels(); ++t) {
    Layer layer;
    layer.shape = {.family = family, .dimension = data.dimension(), .linked = t > 0};
    int below = std::max(0, t - 1);
    while (data.count(below) == 0) --below;  // level 0 has observations
    const std::vector<int> chosen =
        ChooseInducing(data.x, Candidates(data, below, t > 0 ? 2 : 1, s.inducing_points, seed), s.inducing_points);
    layer.z = data.x(chosen, Eigen::all);
    layer.zy = data.y(chosen);
    if (t > 0) layer.zf = layer.zy;
    layer.kernel = size;
    size += layer.shape.size();
    if (layer.shape.linked) layer.link_variance = size++;
    if (data.learn_noise[t] && data.count(t) > 0) layer.noise = size++;
    const int m = static_cast<int>(chosen.size());
    layer.mean = size;
    layer.root = size + m;
    size += m + m * m;
    layers.push_back(std::move(layer));
  }
}

Vector SviModel::Layer::Theta(const Vector& parameters) const {
  Vector theta = parameters.segment(kernel, shape.size()).unaryExpr([](double x) { return std::log(PositiveOf(x)); });
  if (shape.linked) {
    const double variance = std::log(PositiveOf(parameters[link_variance]));
    theta[shape.linear()] += variance;
    theta[shape.nonlinear()] += variance;
  }
  return theta;
}

double SviModel::Layer::Noise(const Vector& parameters) const { return noise >= 0 ? PositiveOf(parameters[noise]) : 0; }

void SviModel::Layer::Reverse(const Vector& parameters, const Vector& theta_bar, double noise_bar,
                              Vector& gradient) const {
  const auto log_slope = [&](int i) { return PositiveSlope(parameters[i]) / PositiveOf(parameters[i]); };
  for (int i = 0; i < shape.size(); ++i) gradient[kernel + i] += theta_bar[i] * log_slope(kernel + i);
  if (shape.linked) {
    gradient[link_variance] += (theta_bar[shape.linear()] + theta_bar[shape.nonlinear()]) * log_slope(link_variance);
  }
  if (noise >= 0) gradient[noise] += noise_bar * PositiveSlope(parameters[noise]);
}

void SviModel::Layer::Set(const Vector& theta, double noise_variance, Vector& parameters) const {
  parameters.segment(kernel, shape.size()) = theta.unaryExpr([](double x) { return UnboundedOf(std::exp(x)); });
  if (shape.linked) parameters[link_variance] = UnboundedOf(1);
  if (noise >= 0) parameters[noise] = UnboundedOf(noise_variance);
}

}  // namespace fidelio
