// Greedy maximisation of det(L_S) over sets of k candidates: each step adds the candidate that makes the determinant
// largest (Chen, Zhang & Zhou 2018). That is the order of the pivots of PivotedCholesky, in O(n k²) time and O(n k)
// memory; of the kernel, only the diagonal and the columns of the chosen are read, so that n may be far too large for
// an n×n matrix. Ties go to the lowest index. A smaller k gives the first of a larger one.
#ifndef FIDELIO_CORE_DESIGN_DPP_MAP_H_
#define FIDELIO_CORE_DESIGN_DPP_MAP_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/export.h"
#include "core/base/types.h"

namespace fidelio {

struct DppMap {
  std::vector<int> indices;  // k candidates in the order of their choice
  double log_determinant;    // log det(L_S)
};

// Writes column i of the kernel to `column` (n).
using KernelColumn = std::function<void(Eigen::Index i, Eigen::Ref<Vector> column)>;

// `diagonal`: that of the kernel. INVALID_ARGUMENT when it is not finite and ≥ 0, when k < 1, and, with the rank, when
// k is larger than the numerical rank of the kernel.
FIDELIO_EXPORT absl::StatusOr<DppMap> GreedyDppMap(const Vector& diagonal, const KernelColumn& column, int k);

}  // namespace fidelio

#endif  // FIDELIO_CORE_DESIGN_DPP_MAP_H_
