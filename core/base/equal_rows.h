// Finds rows of a matrix that are exactly equal, as repeated runs of a simulator at the same input.
#ifndef FIDELIO_CORE_BASE_EQUAL_ROWS_H_
#define FIDELIO_CORE_BASE_EQUAL_ROWS_H_

#include <vector>

#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

// Equal rows form a group.
struct EqualRows {
  std::vector<int> group;                // per row: the number of its group, from 0 in the order of first appearance
  int count = 0;                         // of groups
  std::vector<std::vector<int>> copies;  // the groups of at least two rows, each ascending; empty when all rows differ
};

// O(n log n) comparisons of rows. 0 and −0 are equal; the values must not be NaN.
FIDELIO_EXPORT EqualRows FindEqualRows(const ConstMatrixRef& x);

// How many different numbers there are; some may be missing, where rows were taken away.
FIDELIO_EXPORT int GroupCount(const std::vector<int>& group);

// The mean over the groups of the mean within each, so that copies count once. An empty `group`: every value is its
// own.
FIDELIO_EXPORT double GroupMean(const Vector& values, const std::vector<int>& group);

}  // namespace fidelio

#endif  // FIDELIO_CORE_BASE_EQUAL_ROWS_H_
