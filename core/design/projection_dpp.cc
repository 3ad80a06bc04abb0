#include "core/design/projection_dpp.h"

#include <algorithm>

namespace fidelio {
namespace {

using Eigen::Index;

// What is below this fraction of a squared norm is rounding: a copy of a chosen candidate.
constexpr double kRounding = 1e-13;

}  // namespace

std::vector<int> DrawProjectionDpp(const Matrix& y, Random& random) {
  const Index k = y.rows(), n = y.cols();
  const Vector norms = y.colwise().squaredNorm();
  std::vector<double> cumulative(n);
  double total = 0;
  for (Index i = 0; i < n; ++i) cumulative[i] = total += norms[i];
  std::vector<int> chosen;
  Matrix basis(k, k);  // of the span of the chosen, one column each
  Vector rest(k), along(k);
  while (static_cast<Index>(chosen.size()) < k) {
    const Index t = static_cast<Index>(chosen.size());
    const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), random.Uniform() * total);
    const Index i = std::min<Index>(at - cumulative.begin(), n - 1);
    along.head(t).noalias() = basis.leftCols(t).transpose() * y.col(i);
    const double left = norms[i] - along.head(t).squaredNorm();
    if (!(left > kRounding * norms[i]) || random.Uniform() * norms[i] >= left) continue;
    rest = y.col(i);
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough, whatever the cancellation
      along.head(t).noalias() = basis.leftCols(t).transpose() * rest;
      rest.noalias() -= basis.leftCols(t) * along.head(t);
    }
    basis.col(t) = rest.normalized();
    chosen.push_back(static_cast<int>(i));
  }
  return chosen;
}

}  // namespace fidelio
