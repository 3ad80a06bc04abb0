// VecchiaSets: which conditionals an estimate of Vecchia's likelihood is made of.
//
//   log p(y) = Σ_i log p(y_i | all before i) ≈ Σ_i log p(y_i | the m nearest before i)
//
// in a random order of the points, so that neighbours are near for late points and far for early ones: all scales count. Of N
// points, `count` are drawn evenly over the order. In an order of up to 4,096 points the nearest before i are exact; in longer
// ones they come from trees of the first half, quarter, … of the order, the largest that ends before i.
#ifndef FIDELIO_CORE_NEIGHBOUR_VECCHIA_SETS_H_
#define FIDELIO_CORE_NEIGHBOUR_VECCHIA_SETS_H_

#include <cstdint>
#include <vector>

#include "core/base/types.h"

namespace fidelio {

// x: D×N, distances are of inputs times `inverse` (D). Each set is a point, then (at most m of) those it is conditioned on.
std::vector<std::vector<int>> VecchiaSets(const Matrix& x, const Vector& inverse, int m, int count, uint64_t seed,
                                          int threads);

}  // namespace fidelio

#endif  // FIDELIO_CORE_NEIGHBOUR_VECCHIA_SETS_H_
