#include "core/neighbour/vecchia_sets.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/random_streams.h"
#include "core/neighbour/neighbour_index.h"

namespace fidelio {
namespace {

constexpr int kExact = 4096;  // points before i among which all distances are computed

std::vector<int> RandomOrder(int n, uint64_t seed) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, StreamOf(RandomUse::kVecchiaOrder));
  for (int i = n - 1; i > 0; --i) {
    std::swap(order[i], order[static_cast<size_t>(random.NextBits() % static_cast<uint64_t>(i + 1))]);
  }
  return order;
}

// The m of order[0 … end) nearest to order[end].
std::vector<int> NearestBefore(const Matrix& scaled, const std::vector<int>& order, int end, int m) {
  std::vector<std::pair<double, int>> distances(end);
  const auto target = scaled.col(order[end]);
  for (int k = 0; k < end; ++k) distances[k] = {(scaled.col(order[k]) - target).squaredNorm(), order[k]};
  const int keep = std::min(m, end);
  std::partial_sort(distances.begin(), distances.begin() + keep, distances.end());
  std::vector<int> nearest(keep);
  for (int k = 0; k < keep; ++k) nearest[k] = distances[k].second;
  return nearest;
}

}  // namespace

std::vector<std::vector<int>> VecchiaSets(const Matrix& x, const Vector& inverse, int m, int count, uint64_t seed,
                                          int threads) {
  const int n = static_cast<int>(x.cols());
  count = std::min(count, n);
  const std::vector<int> order = RandomOrder(n, seed);
  const Matrix scaled = inverse.asDiagonal() * x;
  std::vector<int> places(count);
  for (int k = 0; k < count; ++k) places[k] = static_cast<int>((2 * k + 1) * static_cast<int64_t>(n) / (2 * count));
  std::vector<std::vector<int>> sets(count);

  // Trees of order[0 … n/2), order[0 … n/4), …, each for the places up to twice its size.
  for (int size = n / 2, end = n; end > kExact; end = size, size /= 2) {
    const NeighbourIndex index(scaled(Eigen::all, std::vector<int>(order.begin(), order.begin() + size)));
    ParallelFor(count, threads, [&](int k) {
      if (places[k] < std::max(size, kExact) || places[k] >= end) return;
      sets[k] = {order[places[k]]};
      for (const int i : index.Nearest(scaled.col(order[places[k]]).data(), m)) sets[k].push_back(order[i]);
    });
  }
  ParallelFor(count, threads, [&](int k) {
    if (places[k] >= kExact) return;
    sets[k] = NearestBefore(scaled, order, places[k], m);
    sets[k].insert(sets[k].begin(), order[places[k]]);
  });
  return sets;
}

}  // namespace fidelio
