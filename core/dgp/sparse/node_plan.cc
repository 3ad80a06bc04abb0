#include "core/dgp/sparse/node_plan.h"

#include <algorithm>

#include "core/base/normal.h"
#include "core/base/normal_quadrature.h"
#include "core/base/sobol.h"

namespace fidelio {
namespace {

constexpr int kMostNodes = 20000;  // of a layer, that a rule is reduced for
constexpr uint64_t kPathSeed = 7;

// paths×dimensions standard normals; the same every time.
Matrix PathNormals(int paths, int dimensions) {
  Matrix points = *ScrambledSobol(paths, Vector::Zero(dimensions), Vector::Ones(dimensions), kPathSeed);
  for (double& u : points.reshaped()) u = NormalQuantile(std::clamp(u, 1e-9, 1 - 1e-9));
  return points;
}

struct Growing {
  std::vector<int> point, parent, centre;
  std::vector<double> xi, weight;

  int Add(int of, int below, double node, double share) {
    point.push_back(of);
    parent.push_back(below);
    xi.push_back(node);
    weight.push_back(share);
    return static_cast<int>(point.size()) - 1;
  }
  NodeLayer Done() && {
    const auto vector = [](const std::vector<double>& v) {
      return Vector(Eigen::Map<const Vector>(v.data(), static_cast<Eigen::Index>(v.size())));
    };
    return {std::move(point), std::move(parent), vector(xi), vector(weight), std::move(centre)};
  }
};

}  // namespace

NodeRule NodeRule::ForCounts(const std::vector<int>& counts) {
  NodeRule rule;
  const auto count = [&](size_t level) { return level < counts.size() ? counts[level] : 0; };
  while (rule.two_levels > 3 && count(1) * rule.two_levels > kMostNodes) rule.two_levels -= 2;
  while (rule.three_levels > 3 && count(2) * rule.three_levels * rule.three_levels > kMostNodes) rule.three_levels -= 2;
  int high = 0;
  for (size_t level = 3; level < counts.size(); ++level) high += counts[level];
  while (rule.paths > 8 && high * rule.paths > kMostNodes) rule.paths /= 2;
  return rule;
}

NodePlan::NodePlan(const std::vector<int>& level, int layer_count, const NodeRule& rule) {
  const int points = static_cast<int>(level.size());
  const NormalQuadrature two(rule.two_levels), three(rule.three_levels);
  const Matrix normals = layer_count > 3 ? PathNormals(rule.paths, layer_count - 1) : Matrix();
  std::vector<Growing> growing(layer_count);
  for (Growing& layer : growing) layer.centre.assign(points, -1);
  std::vector<std::vector<int>> below(points);  // a point's nodes in the layer below, but the centre outside the rule
  for (int i = 0; i < points; ++i) {
    growing[0].centre[i] = growing[0].Add(i, -1, 0, 1);
    below[i] = {growing[0].centre[i]};
  }
  for (int t = 1; t < layer_count; ++t) {
    for (int i = 0; i < points; ++i) {
      if (level[i] < t) continue;
      std::vector<int> own;
      const int centre_below = growing[t - 1].centre[i];
      if (level[i] <= 2) {
        const NormalQuadrature& gauss = level[i] == 1 ? two : three;
        for (int parent : below[i]) {
          for (int k = 0; k < gauss.node.size(); ++k) {
            own.push_back(growing[t].Add(i, parent, gauss.node[k], growing[t - 1].weight[parent] * gauss.weight[k]));
            if (parent == centre_below && gauss.node[k] == 0) growing[t].centre[i] = own.back();
          }
        }
      } else {
        for (int s = 0; s < rule.paths; ++s) {
          own.push_back(growing[t].Add(i, t == 1 ? below[i][0] : below[i][s], normals(s, t - 1), 1.0 / rule.paths));
        }
        growing[t].centre[i] = growing[t].Add(i, centre_below, 0, 0);
      }
      below[i] = std::move(own);
    }
  }
  for (Growing& layer : growing) layers.push_back(std::move(layer).Done());
}

}  // namespace fidelio
