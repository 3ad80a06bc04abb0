#include "core/design/near_points.h"

#include <map>
#include <utility>

namespace fidelio {

using Eigen::Index;

std::vector<Kept> FindNearPoints(const Matrix& points, const Matrix& excluded, double tolerance) {
  const Index n = points.rows(), d = points.cols();
  std::vector<Kept> kept(n, Kept::kYes);
  if (n == 0) return kept;
  const Vector range = points.colwise().maxCoeff() - points.colwise().minCoeff();
  // Points that are near have sums of scaled coordinates that differ by at most d tolerances, and a little rounding.
  const Vector scale = range.unaryExpr([](double r) { return r > 0 ? 1 / r : 1; });
  const Vector low = points.colwise().minCoeff();
  const auto sum = [&](const auto& x) { return (x.transpose() - low).cwiseProduct(scale).sum(); };
  const double reach = static_cast<double>(d) * (tolerance + 1e-14);
  const auto near = [&](const auto& x, const auto& y) {
    return ((x - y).transpose().cwiseAbs().array() <= tolerance * range.array()).all();
  };
  std::multimap<double, std::pair<Kept, Index>> known;  // by their sums: what a point near it is
  for (Index i = 0; i < excluded.rows(); ++i) known.emplace(sum(excluded.row(i)), std::pair(Kept::kExcluded, i));
  for (Index i = 0; i < n; ++i) {
    const double at = sum(points.row(i));
    for (auto it = known.lower_bound(at - reach); it != known.end() && it->first <= at + reach; ++it) {
      const auto [kind, j] = it->second;
      if (!near(points.row(i), kind == Kept::kExcluded ? excluded.row(j) : points.row(j))) continue;
      kept[i] = kind;
      if (kind == Kept::kExcluded) break;
    }
    if (kept[i] == Kept::kYes) known.emplace(at, std::pair(Kept::kCopy, i));
  }
  return kept;
}

}  // namespace fidelio
