#include "core/neighbour/neighbour_index.h"

#include <algorithm>
#include <cstdint>
#include <nanoflann.hpp>
#include <utility>

namespace fidelio {

class NeighbourIndex::Tree {
 public:
  virtual ~Tree() = default;
  // Fills `found` with the nearest, nearest first; returns how many there are.
  virtual size_t Search(const double* query, std::vector<uint32_t>& found, std::vector<double>& distances) const = 0;
};

// With the number of dimensions known to the compiler, or −1.
template <int dimensions>
class NeighbourIndex::TreeOf final : public Tree {
 public:
  explicit TreeOf(const Matrix& points)
      : cloud_{points}, tree_(points.rows(), cloud_, nanoflann::KDTreeSingleIndexAdaptorParams(kLeaf)) {
    tree_.buildIndex();
  }

  size_t Search(const double* query, std::vector<uint32_t>& found, std::vector<double>& distances) const override {
    return tree_.knnSearch(query, found.size(), found.data(), distances.data());
  }

 private:
  static constexpr size_t kLeaf = 16;

  // What nanoflann asks of a set of points.
  struct Cloud {
    const Matrix& points;
    size_t kdtree_get_point_count() const { return static_cast<size_t>(points.cols()); }
    double kdtree_get_pt(size_t i, size_t d) const { return points.data()[i * points.rows() + d]; }
    template <typename Box>
    bool kdtree_get_bbox(Box&) const {
      return false;
    }
  };
  using Metric = nanoflann::L2_Simple_Adaptor<double, Cloud, double, uint32_t>;

  Cloud cloud_;
  nanoflann::KDTreeSingleIndexAdaptor<Metric, Cloud, dimensions, uint32_t> tree_;
};

NeighbourIndex::NeighbourIndex(Matrix points) : points_(std::move(points)) {
  switch (points_.rows()) {
    case 1:
      tree_ = std::make_unique<TreeOf<1>>(points_);
      break;
    case 2:
      tree_ = std::make_unique<TreeOf<2>>(points_);
      break;
    case 3:
      tree_ = std::make_unique<TreeOf<3>>(points_);
      break;
    default:
      tree_ = std::make_unique<TreeOf<-1>>(points_);
  }
}

NeighbourIndex::~NeighbourIndex() = default;

std::vector<int> NeighbourIndex::Nearest(const double* query, int k, int excluded) const {
  const int without = excluded >= 0 ? 1 : 0;
  std::vector<uint32_t> found(static_cast<size_t>(std::min(k + without, size())));
  std::vector<double> distances(found.size());
  if (found.empty()) return {};
  found.resize(tree_->Search(query, found, distances));
  std::vector<int> nearest(found.begin(), found.end());
  if (without) {
    const auto at = std::find(nearest.begin(), nearest.end(), excluded);
    if (at != nearest.end()) {
      nearest.erase(at);
    } else if (static_cast<int>(nearest.size()) > k) {  // so many lie at the same place that it was not found
      nearest.pop_back();
    }
  }
  std::sort(nearest.begin(), nearest.end());
  return nearest;
}

}  // namespace fidelio
