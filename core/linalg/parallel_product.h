// Multiply on several threads. The product is cut into the same parts whatever their number, so that results do not
// depend on it.
#ifndef FIDELIO_CORE_LINALG_PARALLEL_PRODUCT_H_
#define FIDELIO_CORE_LINALG_PARALLEL_PRODUCT_H_

#include <algorithm>

#include "core/base/parallel.h"
#include "core/base/types.h"
#include "core/linalg/product.h"

namespace fidelio {

// c = scale·a·b or c += scale·a·b, of which only the lower triangle may be needed; a and b are matrices, blocks of them
// or transposes, without known zeros.
template <typename A, typename B>
void MultiplyOnThreads(int threads, Part wanted, double scale, const A& a, const B& b, Write write, MatrixRef c) {
  constexpr Eigen::Index kMost = 512, kMultiple = 4;
  // Of the same width, and an even number of them: most machines have an even number of cores.
  const Eigen::Index columns = c.cols(), even = 2 * ((columns + 2 * kMost - 1) / (2 * kMost));
  const Eigen::Index most = std::max(
      kMultiple, ((columns + even - 1) / std::max<Eigen::Index>(even, 1) + kMultiple - 1) / kMultiple * kMultiple);
  ParallelFor(static_cast<int>((columns + most - 1) / most), threads, [&](int part) {
    const Eigen::Index first = part * most, width = std::min(most, columns - first);
    const Eigen::Index above = wanted == Part::kLower ? first : 0, below = c.rows() - above;
    Multiply({.c = wanted}, scale, a.bottomRows(below), b.middleCols(first, width), write,
             c.block(above, first, below, width));
  });
}

}  // namespace fidelio

#endif  // FIDELIO_CORE_LINALG_PARALLEL_PRODUCT_H_
