#include "core/dgp/sparse/variational_model.h"

#include <limits>
#include <numeric>
#include <utility>

namespace fidelio {

using Eigen::Index;

std::vector<int> ChooseInducing(const Matrix& x, const std::vector<int>& candidates, int most) {
  constexpr double kSame = 1e-12;  // squared distance in scaled units
  const int n = static_cast<int>(candidates.size());
  std::vector<int> chosen;
  if (n == 0) return chosen;
  // Distances of all candidates to the chosen ones. Where all are taken, their order stays.
  Vector distance = Vector::Constant(n, std::numeric_limits<double>::infinity());
  const auto take = [&](int at) {
    chosen.push_back(candidates[at]);
    const Eigen::RowVectorXd centre = x.row(candidates[at]);
    for (int i = 0; i < n; ++i) distance[i] = std::min(distance[i], (x.row(candidates[i]) - centre).squaredNorm());
  };
  if (n <= most) {
    for (int i = 0; i < n; ++i) {
      if (distance[i] > kSame) take(i);
    }
    return chosen;
  }
  for (int at = 0; static_cast<int>(chosen.size()) < most && distance[at] > kSame;) {
    take(at);
    distance.maxCoeff(&at);
  }
  return chosen;
}

namespace {

std::vector<int> LevelOfPoints(const ScaledData& data) {
  std::vector<int> level;
  for (int t = 0; t < data.levels(); ++t) level.insert(level.end(), data.count(t), t);
  return level;
}

}  // namespace

VariationalModel::VariationalModel(ScaledData scaled, KernelFamily family, int inducing_points, const NodeRule& rule)
    : data(std::move(scaled)), plan(LevelOfPoints(data), data.levels(), rule) {
  for (int t = 0; t < data.levels(); ++t) {
    Layer layer;
    layer.shape = {.family = family, .dimension = data.dimension(), .linked = t > 0};
    layer.theta = size;
    size += layer.shape.size();
    if (data.learn_noise[t] && data.count(t) > 0) layer.noise = size++;
    std::vector<int> candidates(data.rest(t));
    std::iota(candidates.begin(), candidates.end(), data.offset[t]);
    layer.inducing = ChooseInducing(data.x, candidates, inducing_points);
    layer.z = data.x(layer.inducing, Eigen::all);
    layers.push_back(std::move(layer));
  }
  hyperparameters = size;
  for (int t = 0; t < data.levels(); ++t) {
    layers[t].site_precision = size;
    layers[t].site_target = size + upper(t);
    size += 2 * upper(t);
  }
}

}  // namespace fidelio
