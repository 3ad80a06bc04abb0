#include "core/base/equal_rows.h"

#include <algorithm>
#include <numeric>

namespace fidelio {

using Eigen::Index;

EqualRows FindEqualRows(const ConstMatrixRef& x) {
  const int n = static_cast<int>(x.rows());
  const auto compare = [&x](int i, int j) {
    for (Index d = 0; d < x.cols(); ++d) {
      if (x(i, d) != x(j, d)) return x(i, d) < x(j, d) ? -1 : 1;
    }
    return 0;
  };
  std::vector<int> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) {
    const int c = compare(i, j);
    return c != 0 ? c < 0 : i < j;
  });
  std::vector<int> first(static_cast<size_t>(n));  // the first row that equals this one
  for (int k = 0; k < n; ++k) {
    const bool same = k > 0 && compare(order[k - 1], order[k]) == 0;
    first[order[k]] = same ? first[order[k - 1]] : order[k];
  }
  EqualRows result;
  result.group.resize(static_cast<size_t>(n));
  std::vector<int> sizes;
  for (int i = 0; i < n; ++i) {
    if (first[i] == i) sizes.push_back(0);
    result.group[i] = first[i] == i ? result.count++ : result.group[first[i]];
    ++sizes[result.group[i]];
  }
  std::vector<int> place(sizes.size(), -1);
  for (int i = 0; i < n; ++i) {
    const int group = result.group[i];
    if (sizes[group] < 2) continue;
    if (place[group] < 0) {
      place[group] = static_cast<int>(result.copies.size());
      result.copies.emplace_back();
    }
    result.copies[place[group]].push_back(i);
  }
  return result;
}

int GroupCount(const std::vector<int>& group) {
  std::vector<int> numbers = group;
  std::sort(numbers.begin(), numbers.end());
  return static_cast<int>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
}

double GroupMean(const Vector& values, const std::vector<int>& group) {
  const int groups = GroupCount(group);
  if (groups == static_cast<int>(group.size())) return values.mean();
  const int numbers = 1 + *std::max_element(group.begin(), group.end());
  Vector sum = Vector::Zero(numbers), size = Vector::Zero(numbers);
  for (size_t i = 0; i < group.size(); ++i) {
    sum[group[i]] += values[static_cast<Index>(i)];
    size[group[i]] += 1;
  }
  return sum.cwiseQuotient(size.cwiseMax(1)).sum() / groups;
}

}  // namespace fidelio
