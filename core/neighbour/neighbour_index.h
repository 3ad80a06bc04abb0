// NeighbourIndex: the nearest of many points, by Euclidean distance (a kd-tree; nanoflann).
//
// Building takes O(N log N) time and O(N) memory, a search about O(k log N) in few dimensions. Immutable; safe to share
// between threads.
#ifndef FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_INDEX_H_
#define FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_INDEX_H_

#include <memory>
#include <vector>

#include "core/base/types.h"

namespace fidelio {

class NeighbourIndex {
 public:
  // points: D×N, one column per point.
  explicit NeighbourIndex(Matrix points);
  ~NeighbourIndex();

  int size() const { return static_cast<int>(points_.cols()); }

  // The (at most) k points nearest to `query` (D numbers), as ascending numbers.
  std::vector<int> Nearest(const double* query, int k) const;

  // The same of point number `of`, without those at exactly its place: itself and its copies.
  struct Others {
    std::vector<int> nearest;  // ascending
    std::vector<int> copies;   // ascending, `of` among them
  };
  Others NearestOthers(int of, int k) const;

 private:
  class Tree;
  template <int dimensions>
  class TreeOf;

  Matrix points_;
  std::unique_ptr<const Tree> tree_;
};

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_NEIGHBOUR_INDEX_H_
