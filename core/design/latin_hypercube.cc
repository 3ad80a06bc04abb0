#include "core/design/latin_hypercube.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/status_macros.h"

namespace fidelio {
namespace {

using Eigen::Index;

constexpr double kWork = 3e8;          // differences of coordinates that are computed at most
constexpr int kMostStarts = 20;        // of which the best is improved
constexpr int kMostExchanges = 20000;  // tried
constexpr int kCheckEvery = 256;       // exchanges

int Below(Random& random, int n) { return std::min(n - 1, static_cast<int>(random.Uniform() * n)); }

// Points as columns: new ones first, then the existing.
class LatinSearch {
 public:
  LatinSearch(int n, const Matrix& existing) : n_(n), points_(existing.cols(), n + existing.rows()) {
    points_.rightCols(existing.rows()) = existing.transpose();
    const auto inside = [](const auto& x) { return x.minCoeff() >= 0 && x.maxCoeff() <= 1; };
    int within = 0;
    for (Index i = n; i < points_.cols(); ++i) within += inside(points_.col(i)) ? 1 : 0;
    const int cells = n + within;
    free_.resize(static_cast<size_t>(points_.rows()));
    for (Index d = 0; d < points_.rows(); ++d) {
      std::vector<bool> taken(static_cast<size_t>(cells), false);
      for (Index i = n; i < points_.cols(); ++i) {
        if (inside(points_.col(i))) taken[std::min(cells - 1, static_cast<int>(points_(d, i) * cells))] = true;
      }
      for (int c = 0; c < cells; ++c) {
        if (!taken[c]) free_[d].push_back(c);
      }
    }
    cells_ = cells;
  }

  void Shuffle(Random& random) {
    for (Index d = 0; d < points_.rows(); ++d) {
      std::vector<int>& cells = free_[d];
      for (int i = static_cast<int>(cells.size()) - 1; i > 0; --i) std::swap(cells[i], cells[Below(random, i + 1)]);
      for (int i = 0; i < n_; ++i) points_(d, i) = (cells[i] + random.Uniform()) / cells_;
    }
  }

  // The smallest squared distance of a new point to any other.
  double Nearest(int i) const {
    double nearest = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < points_.cols(); ++j) {
      if (j != i) nearest = std::min(nearest, (points_.col(j) - points_.col(i)).squaredNorm());
    }
    return nearest;
  }
  double Smallest() const {
    double smallest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < n_; ++i) smallest = std::min(smallest, Nearest(i));
    return smallest;
  }

  // Exchanges one coordinate of two new points, unless one of them comes nearer to another than either was before.
  void TryExchange(Random& random) {
    const int i = Below(random, n_), j = Below(random, n_);
    const Index d = Below(random, static_cast<int>(points_.rows()));
    if (i == j) return;
    const double before = std::min(Nearest(i), Nearest(j));
    std::swap(points_(d, i), points_(d, j));
    if (std::min(Nearest(i), Nearest(j)) < before) std::swap(points_(d, i), points_(d, j));
  }

  double pair_work() const { return static_cast<double>(points_.cols()) * static_cast<double>(points_.rows()); }
  Matrix points() const { return points_.leftCols(n_).transpose(); }
  const Matrix& columns() const { return points_; }
  void Take(Matrix columns) { points_ = std::move(columns); }

 private:
  const int n_;
  int cells_ = 0;
  Matrix points_;
  std::vector<std::vector<int>> free_;  // per dimension: cells without an existing point
};

}  // namespace

absl::StatusOr<Matrix> MaximinLatinHypercube(int n, const Matrix& existing, uint64_t seed, uint32_t stream,
                                             const std::function<absl::Status()>& check) {
  Random random(seed, stream);
  LatinSearch search(n, existing);
  const int starts = static_cast<int>(std::clamp(0.3 * kWork / (n * search.pair_work()), 1.0, 1.0 * kMostStarts));
  Matrix best;
  double widest = -1;
  for (int start = 0; start < starts; ++start) {
    if (check) FIDELIO_RETURN_IF_ERROR(check());
    search.Shuffle(random);
    if (starts == 1) break;
    const double smallest = search.Smallest();
    if (smallest <= widest) continue;
    widest = smallest;
    best = search.columns();
  }
  if (starts > 1) search.Take(std::move(best));
  const int exchanges = static_cast<int>(std::min(0.7 * kWork / (4 * search.pair_work()), 1.0 * kMostExchanges));
  for (int k = 0; n > 1 && existing.cols() > 1 && k < exchanges; ++k) {
    if (check && k % kCheckEvery == 0) FIDELIO_RETURN_IF_ERROR(check());
    search.TryExchange(random);
  }
  return search.points();
}

}  // namespace fidelio
