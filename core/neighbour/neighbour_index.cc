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

std::vector<int> NeighbourIndex::Nearest(const double* query, int k) const {
  std::vector<uint32_t> found(static_cast<size_t>(std::min(k, size())));
  std::vector<double> distances(found.size());
  if (found.empty()) return {};
  found.resize(tree_->Search(query, found, distances));
  std::vector<int> nearest(found.begin(), found.end());
  std::sort(nearest.begin(), nearest.end());
  return nearest;
}

NeighbourIndex::Others NeighbourIndex::NearestOthers(int of, int k) const {
  // Copies come first, but it is not known how many there are.
  for (int asked = std::min(k + 1, size());; asked = std::min(2 * asked, size())) {
    std::vector<uint32_t> found(static_cast<size_t>(asked));
    std::vector<double> distances(found.size());
    found.resize(tree_->Search(points_.col(of).data(), found, distances));
    Others others;
    for (const uint32_t i : found) {
      if (points_.col(i) == points_.col(of)) {
        others.copies.push_back(static_cast<int>(i));
      } else if (static_cast<int>(others.nearest.size()) < k) {
        others.nearest.push_back(static_cast<int>(i));
      }
    }
    if (asked < size() && static_cast<int>(others.nearest.size()) < k) continue;
    std::sort(others.nearest.begin(), others.nearest.end());
    std::sort(others.copies.begin(), others.copies.end());
    return others;
  }
}

}  // namespace fidelio
