// NodePlan: where the layers of a deep GP are evaluated for points of several levels, so that what flows up is averaged over.
//
// A point of level τ needs f_1, …, f_τ there. Only the scalar f_{t−1} enters layer t, and given f_{t−1} it is Gaussian, so that
// expectations over layer t's input are sums over nodes
//   f = mean(parent) + ξ·√var(parent),    weight = weight(parent)·w_ξ
// whose parents are nodes of layer t−1. Layer 1 has one node per point. For τ ≤ 3 the ξ are Gauss–Hermite nodes (a tree); above,
// the paths of a fixed set of scrambled Sobol' normals. Everything is fixed in advance: objectives are deterministic.
// `centre` is the node whose path has ξ = 0 throughout: the mean's own path. Immutable; safe to share between threads.
#ifndef FIDELIO_CORE_DGP_SPARSE_NODE_PLAN_H_
#define FIDELIO_CORE_DGP_SPARSE_NODE_PLAN_H_

#include <vector>

#include "core/base/types.h"

namespace fidelio {

struct NodeLayer {
  std::vector<int> point;   // of a node
  std::vector<int> parent;  // node of the layer below; −1 in layer 1
  Vector xi;
  Vector weight;            // sums to 1 over the nodes of a point; 0 for a centre that is not part of the rule
  std::vector<int> centre;  // per point; −1 where it has no node in this layer

  int size() const { return static_cast<int>(point.size()); }
};

struct NodeRule {
  int two_levels = 9;    // nodes of f_1 for points of level 2; odd
  int three_levels = 5;  // nodes of f_1 and of f_2 (each) for points of level 3; odd
  int paths = 32;        // for points of higher levels

  // Fewer nodes where many points would need them.
  static NodeRule ForCounts(const std::vector<int>& counts);
};

struct NodePlan {
  std::vector<NodeLayer> layers;

  // `level`: of each point, 0 the lowest, below `layers`.
  NodePlan(const std::vector<int>& level, int layers, const NodeRule& rule);
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_DGP_SPARSE_NODE_PLAN_H_
